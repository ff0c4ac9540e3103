package config

import "slices"

func (r *reader) serverFields(known fields, c *Config) {
	known["url"] = text(r, &c.URL, "an address such as "+exampleURL, ParseURL)
	known["headers"] = func(v value) { c.Headers = r.headers(v) }
	known["forward_headers"] = r.list(&c.ForwardHeaders, "X-Tenant, traceparent", forwardName)
	known["forward_authorization"] = text(r, &c.ForwardAuthorization, "true or false", ParseBool)
}

// checkServer looks at what only goes together, or not at all.
func (r *reader) checkServer(doc *document) {
	if doc.URL != "" && doc.Command != nil {
		r.mistake(r.places["url"], "url: the file names a command, too; keep one, the server that is started or the one that runs elsewhere")
	}
	if doc.ForwardAuthorization && hasAuthorization(doc.Headers) {
		r.mistake(r.places["forward_authorization"], "forward_authorization: headers sets Authorization, too; keep one, the credential of each host or your own")
	}
	r.checkListen(doc.Listen)
}

func hasAuthorization(headers []Header) bool {
	return slices.ContainsFunc(headers, func(h Header) bool { return h.Name == "Authorization" })
}
