// A form that is complete as it stands is sent at once; its button is there for who runs no scripts.
document.querySelector("form[data-send]")?.requestSubmit();
