"""What a person sees: plain ASCII when piped, a little colour on a terminal."""
