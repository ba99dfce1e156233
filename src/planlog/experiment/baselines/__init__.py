"""What policies are compared with: other people's planners, and exact methods for some domains."""
