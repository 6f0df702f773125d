package report

import "perch.example/probes"

// grpcJSON is what a gRPC answer ended with.
type grpcJSON struct {
	Code   int    `json:"code"`
	Status string `json:"status"`
	Health string `json:"health,omitempty"`
}

// goawayJSON is an HTTP/2 GOAWAY frame of the peer's.
type goawayJSON struct {
	Code       uint32  `json:"code"`
	LastStream uint32  `json:"last_stream"`
	Debug      string  `json:"debug,omitempty"`
	Age        float64 `json:"age_seconds,omitzero"`
}

func newGRPC(s *probes.GRPCStatus) *grpcJSON {
	if s == nil {
		return nil
	}
	return &grpcJSON{Code: s.Code, Status: s.Name, Health: s.Health}
}

func newGoaway(g *probes.Goaway) *goawayJSON {
	if g == nil {
		return nil
	}
	return &goawayJSON{Code: g.Code, LastStream: g.LastStream, Debug: g.Debug, Age: seconds(g.Age)}
}
