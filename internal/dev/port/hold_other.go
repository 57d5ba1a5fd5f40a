//go:build !linux

package port

import (
	"fmt"
	"net"
)

// Hold returns a port of 127.0.0.1 that is free now. Only on Linux does it reserve the port.
func Hold() (port int, release func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, fmt.Errorf("hold a port: %w", err)
	}
	return l.Addr().(*net.TCPAddr).Port, func() error { return nil }, l.Close()
}
