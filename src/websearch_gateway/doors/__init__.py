"""Ways in: parse, call the gateway, render. No decisions here."""
