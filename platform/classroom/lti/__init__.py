"""Learning platforms: people come from them (LTI 1.3), and their marks go back."""
