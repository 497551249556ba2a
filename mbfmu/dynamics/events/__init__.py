"""What happens at instants: delayed signals, values that are held, states that are set anew."""
