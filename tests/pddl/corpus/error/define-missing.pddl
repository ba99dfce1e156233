; A domain begins with 'define'.
(domain d)
