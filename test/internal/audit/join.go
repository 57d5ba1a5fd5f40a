package audit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/faults"
)

// Join combines the writes in the audit log with the controller's calls, as its proxy saw them. It returns the writes
// in the order in which they reached the proxy, including those that never reached the API server. It reports a problem
// for a call that the API server answered and that is not in the audit log, or is there with another answer; and for a
// write in the audit log that is no call.
func Join(logged []controlplane.Write, calls []faults.Call) (writes []Write, problems []string) {
	byID := map[string]*controlplane.Write{}
	for i := range logged {
		w := &logged[i]
		if byID[w.ID] != nil {
			problems = append(problems, fmt.Sprintf("the audit log has two writes of ID %s: %s %s/%s", w.ID, w.Resource, w.Namespace, w.Name))
		}
		byID[w.ID] = w
	}
	for i := range calls {
		c := &calls[i]
		at := byID[c.ID]
		delete(byID, c.ID)
		switch {
		case at == nil && c.Answer != 0:
			problems = append(problems, fmt.Sprintf("the API server answered %d to %s %s (audit ID %s), and its audit log has no such write", c.Answer, c.Method, c.Path, c.ID))
			continue
		case at == nil:
			var err error
			if at, err = unlogged(c); err != nil {
				problems = append(problems, fmt.Sprintf("%s %s: %v", c.Method, c.Path, err))
				continue
			}
		case c.Answer != 0 && c.Answer != at.Code:
			problems = append(problems, fmt.Sprintf(
				"the API server answered %d to %s %s (audit ID %s), and %d by its audit log", c.Answer, c.Method, c.Path, c.ID, at.Code))
		// If the client closed the connection before the API server had read the body, the audit log has none. Take
		// the write as the proxy has it.
		case at.Body == "" && len(c.Body) > 0:
			if sent, err := unlogged(c); err == nil {
				sent.Code, at = at.Code, sent
			}
		}
		if w, problem := read(at); problem != "" {
			problems = append(problems, problem)
		} else if w != nil {
			w.Told = c.Told
			writes = append(writes, *w)
		}
	}
	for _, w := range logged {
		if byID[w.ID] != nil {
			problems = append(problems, fmt.Sprintf("the proxy knows nothing of %s %s %s/%s (audit ID %s)", w.Verb, w.Resource, w.Namespace, w.Name, w.ID))
		}
	}
	return writes, problems
}

var verbs = map[string]string{
	http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
}

// unlogged returns a call that did not reach the API server in the form of a write in the audit log.
func unlogged(c *faults.Call) (*controlplane.Write, error) {
	w := &controlplane.Write{ID: c.ID, Verb: verbs[c.Method]}
	if err := locate(w, c.Path); err != nil {
		return nil, err
	}
	if w.Verb == "patch" || beside[kind{w.Group, w.Verb, w.Resource}] != "" {
		w.Body = string(c.Body)
		return w, nil
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(c.Body, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("read its body: %w", err)
	}
	body, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	w.Body = string(body)
	if about, err := meta.Accessor(object); err == nil {
		w.UID, w.Version = string(about.GetUID()), about.GetResourceVersion()
		if w.Name == "" {
			w.Name = about.GetName()
		}
	}
	return w, nil
}

// locate sets group, namespace, resource, name and subresource of w from the path of a request. Paths look like
// /api/v1/namespaces/NAMESPACE/pods/NAME or /apis/GROUP/VERSION/….
func locate(w *controlplane.Write, path string) error {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "apis" && len(parts) > 1 {
		w.Group, parts = parts[1], parts[1:]
	}
	if len(parts) > 4 && parts[2] == "namespaces" {
		w.Namespace, parts = parts[3], parts[2:]
	}
	if len(parts) < 3 {
		return fmt.Errorf("its path is not that of an object")
	}
	w.Resource = parts[2]
	if len(parts) > 3 {
		w.Name = parts[3]
	}
	if len(parts) > 4 {
		w.Resource += "/" + parts[4]
	}
	return nil
}
