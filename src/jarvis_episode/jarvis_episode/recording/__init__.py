"""What one episode leaves on disk: a folder with its record, bag, video and pictures."""
