"""Ferry: an Eulerian walk over the trips of the cars is an optimal plan."""
