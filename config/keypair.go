package config

import (
	"crypto/tls"
	"fmt"
)

// CheckKeyPair says why the two files cannot serve TLS, and what to write
// instead. They may still change before they are read: this is for the
// message, not for safety.
func CheckKeyPair(files TLS) error {
	if files.Cert == "" || files.Key == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(files.Cert, files.Key); err != nil {
		return fmt.Errorf("%s and %s cannot serve TLS (%v); write the PEM files of a certificate chain and of its private key", files.Cert, files.Key, err)
	}
	return nil
}
