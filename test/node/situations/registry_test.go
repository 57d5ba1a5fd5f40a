//go:build linux

package situations

import (
	"errors"
	"net"
	"net/http"

	"github.com/jobledger/jobledger/test/node"
)

// registries starts servers on the node's loopback: one has no image, one refuses access, and one does not listen.
func registries(n *node.Node) (stop func() error, err error) {
	none := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
	})
	denied := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/token" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+r.Host+`/token",service="private.corp"`)
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	var servers []*http.Server
	stop = func() error {
		var err error
		for _, s := range servers {
			err = errors.Join(err, s.Close())
		}
		return err
	}
	for name, handler := range map[string]http.Handler{"registry.corp": none, "private.corp": denied, "away.corp": nil} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return stop, err
		}
		if err := n.Registry(name, "http://"+listener.Addr().String()); err != nil {
			return stop, err
		}
		if handler == nil {
			_ = listener.Close()
			continue
		}
		s := &http.Server{Handler: handler}
		servers = append(servers, s)
		go func() { _ = s.Serve(listener) }() // ends with stop
	}
	return stop, nil
}
