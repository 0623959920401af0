"""What several tests share: random problems, exact values by definition, events in a fit."""
