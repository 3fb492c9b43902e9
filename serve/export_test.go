package serve

// Routes lists what the Server answers, as "GET /path".
func (s *Server) Routes() (list []string) {
	for _, r := range s.routes {
		list = append(list, r.method+" "+r.path)
	}
	return list
}
