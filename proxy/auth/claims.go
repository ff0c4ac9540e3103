package auth

import (
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// claims are those that something depends on.
type claims struct {
	jwt.Claims
	Scope scopes `json:"scope"` // RFC 9068, section 2.2.3
	Scp   scopes `json:"scp"`   // the same at Microsoft and Okta
}

// isFor: some issuers add or drop the slash at the end of a resource.
func (c *claims) isFor(audience string) bool {
	return oauthex.MatchesResource(c.Audience, audience)
}

func (c *claims) has(required []string) bool {
	for _, s := range required {
		if !slices.Contains(c.Scope, s) && !slices.Contains(c.Scp, s) {
			return false
		}
	}
	return true
}

// scopes is one string with spaces in it, or, against the RFC, an array.
type scopes []string

func (s *scopes) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*s = strings.Fields(text)
		return nil
	}
	return json.Unmarshal(data, (*[]string)(s))
}
