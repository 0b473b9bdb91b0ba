"""What the working process does: tables in, plain facts for the pages out. The rooms below compute."""
