"""Starting the whole system on one machine: Valkey, web, workers and the reaper."""
