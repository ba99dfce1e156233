(domain d)
