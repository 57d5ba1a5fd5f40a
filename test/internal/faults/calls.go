package faults

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/util/uuid"
)

// auditID is the HTTP header with the ID of a request. The API server writes this ID into its audit log.
const auditID = "Audit-ID"

// Call is one write request that reached the proxy.
type Call struct {
	ID           string // ID of the request; the audit log has it, too, if the request reached the API server
	Method, Path string
	Type         string // media type of Body
	Body         []byte // nil if the API server has answered, because then its audit log has the body
	Kind         Kind   // the fault that the proxy caused; empty: none
	// Answer is the HTTP code that the API server sent to the proxy. Told is the code that the proxy sent to the
	// client. 0: none.
	Answer, Told int
}

// kept is a stored call with its mutex. The goroutine that serves the call changes it; Calls reads it. Its methods do
// nothing for nil, so that a proxy that stores no calls needs no checks.
type kept struct {
	mu   sync.Mutex
	call Call
}

type keptKey struct{}

// Calls returns the writes that reached the proxy so far, in the order of their arrival; none without Config.Keep.
func (p *Proxy) Calls() []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Call, len(p.calls))
	for i, k := range p.calls {
		k.mu.Lock()
		all[i] = k.call
		k.mu.Unlock()
	}
	return all
}

// keep stores a write before the proxy handles it, and gives it an ID. It does nothing if Config.Keep is not set or
// the request is a read. It returns an error if the client closed the connection.
func (p *Proxy) keep(r *http.Request, kind Kind) (*kept, *http.Request, error) {
	if !p.config.Keep || r.Method == http.MethodGet {
		return nil, r, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, r, err
	}
	k := &kept{call: Call{
		ID: string(uuid.NewUUID()), Method: r.Method, Path: r.URL.Path, Type: r.Header.Get("Content-Type"), Body: body, Kind: kind,
	}}
	r = r.WithContext(context.WithValue(r.Context(), keptKey{}, k))
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Set(auditID, k.call.ID)
	p.mu.Lock()
	p.calls = append(p.calls, k)
	p.mu.Unlock()
	return k, r, nil
}

// passedOn stores the code of an answer that the proxy passes from the API server to the client.
func passedOn(response *http.Response) error {
	if k, ok := response.Request.Context().Value(keptKey{}).(*kept); ok {
		k.answered(response.StatusCode)
		k.told(response.StatusCode)
	}
	return nil
}

func (k *kept) answered(code int) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.call.Answer, k.call.Body = code, nil
}

func (k *kept) told(code int) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.call.Told = code
}
