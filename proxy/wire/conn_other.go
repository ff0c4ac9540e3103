//go:build !linux

package wire

import "net"

// Conn is a TCP connection: only Linux has a way that costs less.
type Conn struct{ *net.TCPConn }

// NewConn takes the connection over.
func NewConn(conn *net.TCPConn) *Conn { return &Conn{conn} }
