package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/lease"
)

// right is a right (RBAC) that a controller needs.
type right struct {
	group, resource, subresource string
	path                         string // URL path, of the API server or of a controller; if set, there is no resource
	verbs                        []string
	// name of the only object that the right is for; empty for all objects
	name      string
	namespace func(*Config) string // returns the namespace; nil for the namespace of the settings
	need      func(*Config) bool   // reports whether the controller needs the right; nil for always
	// file of deploy/ that grants the right; empty for the main file of the mode
	file string
	// what the controller cannot do without the right; empty if it cannot work at all
	without string
}

func works(c *Config) bool      { return c.Settings.Mode != events.ModeObserve }
func leads(c *Config) bool      { return c.Lease.On }
func deletes(c *Config) bool    { return c.Settings.DeleteExpired }
func gangs(c *Config) bool      { return works(c) && c.Settings.GangScheduling }
func authorizes(c *Config) bool { return c.Authorize }
func runsCrons(c *Config) bool  { return c.Settings.RunsCronJobs() }
func looksAtCrons(c *Config) bool {
	return c.Settings.CronJobs && !c.Settings.RunsCronJobs()
}
func follows(c *Config) bool     { return c.Follows }
func looksAround(c *Config) bool { return c.WatchCluster }
func everywhere(*Config) string  { return "" }
func ofLease(c *Config) string   { return c.Lease.Namespace }
func inSystem(*Config) string    { return lease.SystemNamespace }
func inDefault(*Config) string   { return lease.DefaultNamespace }
func leadsAll(c *Config) bool    { return leads(c) && c.Settings.Namespace == "" }

const (
	observeFile = "deploy/observe/clusterrole.yaml"
	roleFile    = "deploy/base/role.yaml"
	watchFile   = "deploy/watch-cluster/clusterrole.yaml"
	cronFile    = "deploy/cronjobs/clusterrole.yaml"
	clusterFile = "deploy/base/clusterrole.yaml"
	ttlFile     = "deploy/ttl/clusterrole.yaml"
	gangFile    = "deploy/gang/clusterrole.yaml"
	metricsFile = "deploy/metrics-authorize/clusterrole.yaml"
	followFile  = "deploy/overlays/ha/ha.yaml"
)

// needed lists the rights that the files of deploy/ grant, by mode and feature. A test compares the list with the
// files.
var needed = []right{
	{group: "batch", resource: "jobs", verbs: []string{"list", "watch"}},
	{group: "", resource: "pods", verbs: []string{"list", "watch"}},
	{group: "batch", resource: "jobs", verbs: []string{"get"}, need: works},
	{group: "batch", resource: "jobs", subresource: "status", verbs: []string{"update"}, need: works},
	{group: "batch", resource: "jobs", subresource: "finalizers", verbs: []string{"update"}, need: works},
	{group: "", resource: "pods", verbs: []string{"create", "delete", "patch"}, need: works},
	{group: "", resource: "events", verbs: []string{"create", "patch"}, need: works},
	{group: "batch", resource: "jobs", verbs: []string{"delete"}, need: deletes, file: ttlFile},
	{group: "batch", resource: "cronjobs", verbs: []string{"list", "watch"}, need: runsCrons},
	{
		group: "batch", resource: "cronjobs", verbs: []string{"list", "watch"}, need: looksAtCrons,
		without: "CronJobs are not recorded (--cronjobs=false asks for nothing)",
	},
	{group: "batch", resource: "cronjobs", verbs: []string{"get"}, need: runsCrons, file: cronFile},
	{group: "batch", resource: "cronjobs", subresource: "status", verbs: []string{"update"}, need: runsCrons, file: cronFile},
	{group: "batch", resource: "cronjobs", subresource: "finalizers", verbs: []string{"update"}, need: runsCrons, file: cronFile},
	{group: "batch", resource: "jobs", verbs: []string{"create", "delete"}, need: runsCrons, file: cronFile},
	{group: "scheduling.k8s.io", resource: "workloads", verbs: []string{"get", "list", "create", "patch"}, need: gangs, file: gangFile},
	{group: "scheduling.k8s.io", resource: "podgroups", verbs: []string{"get", "list", "create", "patch"}, need: gangs, file: gangFile},
	{group: "authentication.k8s.io", resource: "tokenreviews", verbs: []string{"create"}, need: authorizes, file: metricsFile},
	{group: "authorization.k8s.io", resource: "subjectaccessreviews", verbs: []string{"create"}, need: authorizes, file: metricsFile},
	{path: "/v1/", verbs: []string{"get"}, need: follows, file: followFile},
	{group: "coordination.k8s.io", resource: "leases", verbs: []string{"create"}, need: leads, namespace: ofLease, file: roleFile},
	{group: "coordination.k8s.io", resource: "leases", verbs: []string{"get", "update"}, name: "jobledger", need: leads, namespace: ofLease, file: roleFile},
	{group: "coordination.k8s.io", resource: "leases", verbs: []string{"get"}, name: "jobledger", need: leads, namespace: inSystem},
	{group: "coordination.k8s.io", resource: "leases", verbs: []string{"get"}, name: "jobledger", need: leads, namespace: inDefault},
	{
		group: "coordination.k8s.io", resource: "leases", verbs: []string{"list"}, name: "jobledger", need: leadsAll, namespace: everywhere,
		without: "controllers of single namespaces are not seen, so each start waits 15 s for them to end",
	},
	{
		group: "", resource: "nodes", verbs: []string{"list", "watch"}, need: looksAround, namespace: everywhere, file: watchFile,
		without: "explain cannot say that a pod went with its node",
	},
	{
		group: "", resource: "namespaces", verbs: []string{"list", "watch"}, need: looksAround, namespace: everywhere, file: watchFile,
		without: "explain cannot say that a pod or a Job went with its namespace",
	},
}

// rights asks the API server about each needed right, and reports the missing ones, grouped by the file that grants
// them.
func rights(ctx context.Context, c *Config) []Finding {
	lacks := map[string][]string{} // missing rights, by the file that grants them
	var found []Finding
	asked := 0
	for _, r := range needed {
		if r.need != nil && !r.need(c) {
			continue
		}
		var missing []string
		for _, verb := range r.verbs {
			may, err := r.may(ctx, c, verb)
			if err != nil {
				return append(found, cannotAsk(c, err))
			}
			if asked++; !may {
				missing = append(missing, verb)
			}
		}
		switch {
		case len(missing) == 0:
		case r.without != "":
			found = append(found, Finding{
				Level: Warning, Text: fmt.Sprintf("%s may not %s: %s", who(c), r.text(c, missing), r.without), Do: "give it the rights of " + r.from(c),
			})
		default:
			lacks[r.from(c)] = append(lacks[r.from(c)], r.text(c, missing))
		}
	}
	if len(lacks)+len(found) > 0 {
		if none := noAccount(ctx, c); none != nil {
			return none // an account that does not exist has no rights: report only this
		}
	}
	for _, file := range slices.Sorted(maps.Keys(lacks)) {
		found = append(found, Finding{
			Level: Problem, Text: fmt.Sprintf("%s may not %s", who(c), strings.Join(lacks[file], "; ")), Do: "give it the rights of " + file,
		})
	}
	if found == nil {
		return well(fmt.Sprintf("%s has all %d rights that --manage=%s needs", who(c), asked, c.Settings.Mode))
	}
	return found
}

// noAccount reports that the ServiceAccount does not exist: its name was mistyped, or it must still be created. It is
// called when rights are missing. It reports nothing without the right to look.
func noAccount(ctx context.Context, c *Config) []Finding {
	namespace, name, _ := strings.Cut(c.Account, "/")
	if c.Account == "" {
		return nil
	}
	_, err := c.Client.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return nil
	}
	return []Finding{{Level: Problem, Text: fmt.Sprintf("there is no ServiceAccount %s", c.Account), Do: "install it first (docs/install.md), or look at --service-account"}}
}

func cannotAsk(c *Config, err error) Finding {
	f := Finding{Level: Unknown, Text: fmt.Sprintf("the rights of %s cannot be looked at: %v", who(c), err)}
	if c.Account != "" && apierrors.IsForbidden(err) {
		f.Do = "ask as one who may create subjectaccessreviews (authorization.k8s.io), such as an administrator"
	}
	return f
}

func who(c *Config) string {
	if c.Account == "" {
		return "this account"
	}
	return "the ServiceAccount " + c.Account
}

// text describes the right for messages: "create, patch events (core) in all namespaces". verbs are those to name.
func (r *right) text(c *Config, verbs []string) string {
	if r.path != "" {
		return fmt.Sprintf("%s the non-resource URL %s", strings.Join(verbs, ", "), r.path)
	}
	resource, group, where := r.resource, r.group, "in all namespaces"
	if r.subresource != "" {
		resource += "/" + r.subresource
	}
	if group == "" {
		group = "core"
	}
	if ns := r.in(c); ns != "" {
		where = "in namespace " + ns
	}
	return fmt.Sprintf("%s %s (%s) %s", strings.Join(verbs, ", "), resource, group, where)
}

// from returns the name of the file of deploy/ that grants the right.
func (r *right) from(c *Config) string {
	switch {
	case r.file != "":
		return r.file
	case c.Settings.Mode == events.ModeObserve:
		return observeFile
	}
	return clusterFile
}

// in returns the namespace for which the right is needed; empty for all namespaces.
func (r *right) in(c *Config) string {
	if r.namespace != nil {
		return r.namespace(c)
	}
	return c.Settings.Namespace
}

// may asks the API server whether the ServiceAccount has the right for this verb.
func (r *right) may(ctx context.Context, c *Config, verb string) (bool, error) {
	var path *authorizationv1.NonResourceAttributes
	attributes := &authorizationv1.ResourceAttributes{
		Namespace: r.in(c), Verb: verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Name: r.name,
	}
	if r.path != "" {
		path, attributes = &authorizationv1.NonResourceAttributes{Path: r.path, Verb: verb}, nil
	}
	api := c.Client.AuthorizationV1()
	if c.Account == "" {
		review, err := api.SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes, NonResourceAttributes: path},
		}, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return review.Status.Allowed, nil
	}
	namespace, name, _ := strings.Cut(c.Account, "/")
	review, err := api.SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			ResourceAttributes: attributes, NonResourceAttributes: path, User: "system:serviceaccount:" + namespace + ":" + name,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}
