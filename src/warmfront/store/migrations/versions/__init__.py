"""The migrations, in the order of their numbers. A released migration is never edited."""
