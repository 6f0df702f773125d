package probes

// ClientCopes reports whether the declared client copes with a failure of a reused
// connection: it opens another connection, or sends the request again by itself, at
// whatever idle age. What is only noticed after the time of a request is no coping.
func (o Outcome) ClientCopes() bool {
	c := o.Client
	call, _ := o.Decides()
	switch {
	case o.Family != FamilyConnection || c == nil || c.Experiences == "" || call == nil || call.Connection != ConnectionReused:
		return false
	case o.Reason == ReasonBlackhole || o.Reason == ReasonNoResponse:
		return false
	case c.Result == ClientNotices: // outside of its danger band, if it has one
		return c.Band == nil
	}
	return c.Result == ClientRetries || o.Retry.Hidden
}
