package executor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/jobledger/jobledger/events"
)

func TestVerdictOf(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	invalid := func(path *field.Path) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "demo", field.ErrorList{field.Invalid(path, "x", "field is immutable")})
	}
	status := func(code int32, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
	}
	foreign := func(code, patience int) error {
		return apierrors.NewGenericServerResponse(code, "patch", pods, "demo", "<html>", patience, true)
	}
	terminating := apierrors.NewForbidden(pods, "demo", errors.New("unable to create new content in namespace x because it is being terminated"))
	terminating.ErrStatus.Details.Causes = append(terminating.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: "namespace x is being terminated", Field: "metadata.namespace",
	})
	denied := `admission webhook "guard.example.com" denied the request: pods "demo" is forbidden: exceeded quota: as if`
	dial := &url.Error{Op: "Post", URL: "https://x", Err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}
	reset := &url.Error{Op: "Post", URL: "https://x", Err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}}

	const refused, unknown = events.Refused, events.OutcomeUnknown
	rows := []struct {
		sentence string
		err      error
		ending   events.Ending
		class    events.RefusalClass
		after    time.Duration
		unsent   bool
	}{
		{"a version that is not the newest is a conflict", apierrors.NewConflict(jobs, "demo", errors.New("modified")), refused, events.RefusedConflict, 0, false},
		{"an object that is not there is not found", apierrors.NewNotFound(pods, "demo"), refused, events.RefusedNotFound, 0, false},
		{"a wrapped answer is still the answer", fmt.Errorf("patch: %w", apierrors.NewNotFound(pods, "demo")), refused, events.RefusedNotFound, 0, false},
		{"a namespace that is gone is past being deleted", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "x"), refused, events.RefusedNamespaceTerminating, 0, false},
		{"a name that is taken is taken", apierrors.NewAlreadyExists(pods, "demo"), refused, events.RefusedNameTaken, 0, false},
		{"an object that breaks a rule is invalid", invalid(field.NewPath("spec", "containers")), refused, events.RefusedInvalid, 0, false},
		{"a patch for another UID finds nothing", invalid(field.NewPath("metadata", "uid")), refused, events.RefusedNotFound, 0, false},
		{"a request that makes no sense is invalid", apierrors.NewBadRequest("what?"), refused, events.RefusedInvalid, 0, false},
		{"a request that is too large is invalid", apierrors.NewRequestEntityTooLargeError("3 MB"), refused, events.RefusedInvalid, 0, false},
		{"missing rights are forbidden", apierrors.NewForbidden(pods, "demo", errors.New("no")), refused, events.RefusedForbidden, 0, false},
		{"a token that ran out is forbidden", apierrors.NewUnauthorized("token"), refused, events.RefusedForbidden, 0, false},
		{"a quota that is used up is a quota", apierrors.NewForbidden(pods, "demo", errors.New("exceeded quota: q, requested: pods=1, used: pods=10, limited: pods=10")), refused, events.RefusedQuota, 0, false},
		{"a quota of something that the pod does not say is a quota", apierrors.NewForbidden(pods, "demo", errors.New("failed quota: q: must specify cpu for: main")), refused, events.RefusedQuota, 0, false},
		{"a quota that nobody has counted yet is a quota", apierrors.NewForbidden(pods, "demo", errors.New("status unknown for quota: q, resources: pods")), refused, events.RefusedQuota, 0, false},
		{"a policy's denial is forbidden", status(422, `pods "demo" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), refused, events.RefusedForbidden, 0, false},
		{"a namespace that is being deleted says so in a cause", terminating, refused, events.RefusedNamespaceTerminating, 0, false},
		{"too many requests are that, with the server's wish", apierrors.NewTooManyRequests("later", 7), refused, events.RefusedTooManyRequests, 7 * time.Second, false},
		{"a wish for an hour is cut to a minute", apierrors.NewTooManyRequests("later", 3600), refused, events.RefusedTooManyRequests, time.Minute, false},
		{"too many requests for something in between are the same", foreign(429, 2), refused, events.RefusedTooManyRequests, 2 * time.Second, false},
		{"unavailable with a wish did nothing", foreign(503, 1), refused, events.RefusedServer, time.Second, false},
		{"unavailable without one may have done anything", foreign(503, 0), unknown, 0, 0, false},
		{"a webhook that could not be asked kept anything from being stored", apierrors.NewInternalError(errors.New(`failed calling webhook "guard.example.com": connection refused`)), refused, events.RefusedServer, 0, false},
		{"a webhook's denial is forbidden", status(400, denied), refused, events.RefusedForbidden, 0, false},
		{"a webhook that denies with 404 does not make a pod gone", status(404, denied), refused, events.RefusedForbidden, 0, false},
		{"a webhook that denies with 429 does not speak for the server", status(429, denied), refused, events.RefusedForbidden, 0, false},
		{"a webhook that denies with 500 still denies", status(500, denied), refused, events.RefusedForbidden, 0, false},

		{"a gateway that waited for too long knows nothing", apierrors.NewTimeoutError("timeout", 0), unknown, 0, 0, false},
		{"a server that waited for its store knows nothing, and has a wish", apierrors.NewServerTimeout(pods, "create", 2), unknown, 0, 2 * time.Second, false},
		{"an internal error leaves all open, and is over", apierrors.NewInternalError(errors.New("etcdserver: leader changed")), unknown, 0, 0, false},
		{"a server that is not available leaves all open, and is over", apierrors.NewServiceUnavailable("no leader"), unknown, 0, 0, false},
		{"a bad gateway leaves all open", foreign(502, 0), unknown, 0, 0, false},
		{"a 404 that the API server did not write does not make a pod gone", foreign(404, 0), unknown, 0, 0, false},
		{"a 404 of no object does not make a pod gone", status(404, "the server could not find the requested resource"), unknown, 0, 0, false},
		{"a 409 that the API server did not write is no conflict", foreign(409, 0), unknown, 0, 0, false},
		{"a time-out leaves all open", fmt.Errorf("post: %w", context.DeadlineExceeded), unknown, 0, 0, false},
		{"giving up leaves all open", context.Canceled, unknown, 0, 0, false},
		{"a connection that broke leaves all open", reset, unknown, 0, 0, false},
		{"an error of no known kind leaves all open", errors.New("odd"), unknown, 0, 0, false},

		{"a connection that was never made carried nothing", dial, refused, events.RefusedServer, 0, true},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			v := verdictOf(row.err)
			if v.ending != row.ending || v.class != row.class || v.retryAfter != row.after || v.sent == row.unsent {
				t.Errorf("%v: %v %v, after %v, sent %t; want %v %v, after %v, sent %t", row.err,
					v.ending, v.class, v.retryAfter, v.sent, row.ending, row.class, row.after, !row.unsent)
			}
			if v.message == "" {
				t.Error("the server's words are missing")
			}
			if over := strings.HasSuffix(row.sentence, "and is over"); v.over != over {
				t.Errorf("over: %t; want %t", v.over, over)
			}
		})
	}
}

func TestWordsAreBounded(t *testing.T) {
	v := verdictOf(apierrors.NewBadRequest(strings.Repeat("ü", 4000) + "\xff"))
	if len(v.message) > maxMessage || len(v.message) < maxMessage-8 || !strings.HasSuffix(v.message, "ü…") {
		t.Errorf("message of %d bytes, ending %q", len(v.message), v.message[len(v.message)-8:])
	}
}
