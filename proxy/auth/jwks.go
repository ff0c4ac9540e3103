package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

const (
	// maxKeys bounds how many signatures are computed for a token that names
	// no key.
	maxKeys = 64
	// minRSABits: RFC 7518, section 3.3.
	minRSABits = 2048
)

// parseKeys reads a JWK set. Keys that cannot be used are left out, not a
// reason to do without the others: "Implementations SHOULD ignore JWKs within a
// JWK Set that use kty values that are not understood by them" (RFC 7517,
// section 5).
func parseKeys(body []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("not a set of keys: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("a set of %d keys; up to %d are accepted", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if json.Unmarshal(raw, &k) == nil && signs(&k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("no key for signatures is in the set")
	}
	return keys, nil
}

// signs: a symmetric key in a public document would let anybody sign, and a
// private one there is no longer its owner's alone.
func signs(k *jose.JSONWebKey) bool {
	if k.Use != "" && k.Use != "sig" || !k.Valid() {
		return false
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}
