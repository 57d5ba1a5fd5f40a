package integration

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// streamed are rights that are not used on this API server, because it streams lists in a watch (WatchList). Other
// servers need them.
var streamed = []string{"list nodes. in all namespaces", "list namespaces. in all namespaces"}

// O-045: an installation uses each of its rights, and lacks none.
// O-044: also if the API server checks who creates an object that blocks the deletion of its owner.
//
// TestNoRightIsUnused installs each mode with each feature and all pairs of features, as the chart renders it. It
// carries out all their actions, and compares the rights with the audit log. The rows run one after the other, because
// most of them run the Jobs of all namespaces.
func TestNoRightIsUnused(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{
		AuditReads:    true,
		APIServerArgs: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
	})
	log := &audit{cp: cp}
	for n, row := range rightsRows() {
		t.Run(row.String(), func(t *testing.T) {
			if row.has("gangScheduling") {
				t.Skip("no gangs are made on this control plane: test/minors has the rights of 1.36 used, TestWorkloadsAreThoseOfTheBuiltin those of 1.37")
			}
			if len(row.features) > 0 && !long {
				t.Skip("JOBLEDGER_LONG=1")
			}
			w := newWorldOn(t, cp)
			w.alone = true
			objects := chart(t, fmt.Sprintf("rights-%d", n), row.values(w.namespace))
			grants := granted(t, objects)
			w.deploy(objects, row.works())
			i := &installation{world: w, user: w.users[len(w.users)-1], log: log}
			for _, do := range row.deeds() {
				do(i)
			}
			w.clear()
			w.stop(w.controllers[len(w.controllers)-1])                                      // a watch is in the audit log once it has ended
			if err := controller.DropLease(t.Context(), w.client, "jobledger"); err != nil { // the next has its own log
				t.Fatal(err)
			}
			i.usesAll(grants)
		})
	}
}

// installation is an installed chart with a running controller.
type installation struct {
	*world
	user string
	log  *audit
}

// usesAll reports rights that are unused according to the audit log.
func (i *installation) usesAll(grants []grant) {
	i.t.Helper()
	const soon = 20 * time.Second // until an answered request is in the audit log
	var unused []string
	began := time.Now()
	i.eventually("the audit log is read", func() (bool, error) {
		requests, err := i.log.of(i.user)
		unused = nil
		for _, g := range grants {
			if !g.usedBy(requests, grants) && !slices.Contains(streamed, g.String()) {
				unused = append(unused, g.String())
			}
		}
		return len(unused) == 0 || time.Since(began) > soon, err
	})
	if len(unused) > 0 {
		i.t.Errorf("nothing uses these rights of %s: %s", i.user, strings.Join(unused, ", "))
	}
}

// usedBy reports whether one of the requests needed this right. A request that the role of one namespace allows needs
// no right in all namespaces.
func (g grant) usedBy(requests []controlplane.Write, all []grant) bool {
	return slices.ContainsFunc(requests, func(r controlplane.Write) bool {
		return g.covers(r) && (g.namespace != "" || !slices.ContainsFunc(all, func(o grant) bool { return o.namespace != "" && o.covers(r) }))
	})
}

// audit reads the audit log of a control plane as it grows.
type audit struct {
	cp   *controlplane.ControlPlane
	next int64
	seen map[string][]controlplane.Write // by user
}

// of returns the requests of a user that were not forbidden, including those for missing objects. When an object that
// blocks the deletion of its owner is created, it also has the request that the API server makes to itself
// (OwnerReferencesPermissionEnforcement).
func (a *audit) of(user string) ([]controlplane.Write, error) {
	more, next, err := a.cp.WritesSince(a.next)
	if err != nil {
		return nil, err
	}
	if a.next = next; a.seen == nil {
		a.seen = map[string][]controlplane.Write{}
	}
	for _, r := range more {
		if r.Code == http.StatusForbidden {
			continue
		}
		a.seen[r.User] = append(a.seen[r.User], r)
		if owner := map[string]string{"create pods": "jobs", "create jobs": "cronjobs"}[r.Verb+" "+r.Resource]; owner != "" {
			r.Verb, r.Group, r.Resource, r.Name = "update", "batch", owner+"/finalizers", ""
			a.seen[r.User] = append(a.seen[r.User], r)
		}
	}
	return a.seen[user], nil
}

// allows waits until the API server knows these rights of a user: it learns of roles by its own watches, and forbids
// the requests until then.
func (w *world) allows(user string, grants []grant) {
	w.t.Helper()
	for _, g := range grants {
		resource, sub, _ := strings.Cut(g.resource, "/")
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: g.namespace, Verb: g.verb, Group: g.group, Resource: resource, Subresource: sub, Name: cmp.Or(append(g.names, "")...),
			},
		}}
		w.eventually("the API server knows of the right to "+g.String(), func() (bool, error) {
			answer, err := w.client.AuthorizationV1().SubjectAccessReviews().Create(w.t.Context(), review, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed, err
		})
	}
}
