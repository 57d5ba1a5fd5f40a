package controlplane

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// Write is one write request that the API server answered, with success or not. It has the fields of the audit event
// that tests need.
type Write struct {
	// ID is the request's header Audit-ID, or an ID that the API server generated.
	ID string
	// User is the user who sent the request, or whom the sender impersonated: admin, a name given to UserConfig, or
	// system:serviceaccount:NAMESPACE:NAME.
	User string
	// Verb is create, update, patch, delete or deletecollection; with Options.AuditReads also get, list or watch.
	Verb string
	// Group is the API group of the resource; empty for the core group.
	Group string
	// Resource is the plural name, with the subresource if there is one: pods, jobs/status.
	Resource string
	// Namespace and Name identify the object. Name is empty for a create with generateName and for deletecollection.
	Namespace, Name string
	// UID and Version are those of the object in the body of an update.
	UID, Version string
	// Body is the body of the request as JSON, with Options.AuditBodies. Only WritesSince returns it, to save memory.
	Body string
	// Code is the HTTP status of the answer. Message is the text of a refusal.
	Code    int
	Message string
	// At is when the request arrived.
	At time.Time
}

// Unheard reports whether the API server gave up the request before it could answer, as when its client was killed. The
// request may have been carried out.
func (w *Write) Unheard() bool { return w.Code == http.StatusGatewayTimeout }

// WriteKind is the key of the counts that CountWrites returns.
type WriteKind struct{ User, Verb, Resource string }

// auditLog returns the path of the API server's audit log.
func (cp *ControlPlane) auditLog() string {
	if cp.opts.AuditLog != "" {
		return cp.opts.AuditLog
	}
	return cp.path("audit.log")
}

// Writes returns the write requests that were answered so far, in the order of the answers. The API server logs a
// request shortly after the answer, so a caller that has received an answer may have to call Writes again.
func (cp *ControlPlane) Writes() (writes []Write, err error) {
	err = cp.eachWrite(func(w *Write) { writes = append(writes, *w) })
	return writes, err
}

// audited is the part of the audit log that was already read. Each line is read only once, because a control plane that
// many tests share writes 50,000 lines, and each test asks for them.
type audited struct {
	mu     sync.Mutex
	writes []Write
	next   int64 // offset in the file at which to continue
}

// eachWrite calls do for each write that the API server has answered so far, in that order. do must not keep the
// pointer after it returns.
func (cp *ControlPlane) eachWrite(do func(*Write)) error {
	a := &cp.audited
	a.mu.Lock()
	defer a.mu.Unlock()
	more, next, err := cp.WritesSince(a.next)
	if err != nil {
		return err
	}
	for i := range more {
		more[i].Body = ""
	}
	a.writes, a.next = append(a.writes, more...), next
	for i := range a.writes {
		do(&a.writes[i])
	}
	return nil
}

// Forbidden returns the write requests of a user that were refused because no role allows them. Refusals by a quota or
// a webhook are not included. Reads are not in the audit log.
func (cp *ControlPlane) Forbidden(user string) (refused []Write, err error) {
	err = cp.eachWrite(func(w *Write) {
		if w.User == user && w.Code == http.StatusForbidden && strings.Contains(w.Message, "cannot "+w.Verb+" resource") {
			refused = append(refused, *w)
		}
	})
	return refused, err
}

// WritesSince returns the writes after an offset in the audit log. The offset is 0, or what an earlier call returned as
// next.
func (cp *ControlPlane) WritesSince(offset int64) (writes []Write, next int64, err error) {
	f, err := os.Open(cp.auditLog())
	if err != nil {
		return nil, offset, fmt.Errorf("read the audit log: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, offset, fmt.Errorf("read the audit log: %w", err)
	}
	writes, n, err := readAudit(f)
	return writes, offset + n, err
}

// CountWrites counts the writes for which keep returns true; a nil keep counts all.
func (cp *ControlPlane) CountWrites(keep func(Write) bool) (map[WriteKind]int, error) {
	counts := make(map[WriteKind]int)
	err := cp.eachWrite(func(w *Write) {
		if keep == nil || keep(*w) {
			counts[WriteKind{w.User, w.Verb, w.Resource}]++
		}
	})
	return counts, err
}

// auditEvent has those fields of an audit.k8s.io/v1 Event that are read here.
type auditEvent struct {
	AuditID          string    `json:"auditID"`
	Verb             string    `json:"verb"`
	User             auditUser `json:"user"`
	ImpersonatedUser auditUser `json:"impersonatedUser"`
	ObjectRef        struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		UID         string `json:"uid"`
		Version     string `json:"resourceVersion"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"responseStatus"`
	RequestObject            json.RawMessage `json:"requestObject"`
	RequestReceivedTimestamp time.Time       `json:"requestReceivedTimestamp"`
}

type auditUser struct {
	Username string `json:"username"`
}

// readAudit reads one event per line, and returns the number of bytes of these lines. A last line without a line end is
// still being written, so it is left for the next call.
func readAudit(r io.Reader) (writes []Write, size int64, err error) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return writes, size, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read the audit log: %w", err)
		}
		var e auditEvent
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, 0, fmt.Errorf("read line %d of the audit log: %w", len(writes)+1, err)
		}
		writes, size = append(writes, e.write()), size+int64(len(line))
	}
}

func (e auditEvent) write() Write {
	w := Write{
		ID:        e.AuditID,
		User:      e.User.Username,
		Verb:      e.Verb,
		Group:     e.ObjectRef.APIGroup,
		Resource:  e.ObjectRef.Resource,
		Namespace: e.ObjectRef.Namespace,
		Name:      e.ObjectRef.Name,
		UID:       e.ObjectRef.UID,
		Version:   e.ObjectRef.Version,
		Body:      string(e.RequestObject),
		Code:      e.ResponseStatus.Code,
		Message:   e.ResponseStatus.Message,
		At:        e.RequestReceivedTimestamp,
	}
	if e.ImpersonatedUser.Username != "" {
		w.User = e.ImpersonatedUser.Username
	}
	if e.ObjectRef.Subresource != "" {
		w.Resource += "/" + e.ObjectRef.Subresource
	}
	return w
}
