package executor

import (
	"errors"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// Limits for values that the server sends: text lengths in bytes, and the wait time.
const (
	maxReason     = 256
	maxMessage    = 1 << 10
	maxRetryAfter = time.Minute // a server cannot delay us for longer than our own backoff (J-017)
)

const cutMark = "…"

// verdict is what the error of a request tells about its effect.
type verdict struct {
	ending     events.Ending
	class      events.RefusalClass // why the server refused; 0 unless ending is refused
	retryAfter time.Duration
	sent       bool // the request may have reached the server
	over       bool // the effect is unknown, but the server is no longer processing the request
	reason     string
	message    string
}

// verdictOf derives from the error of a request whether the request took effect. Refused means that it certainly had no
// effect. In any doubt the verdict is unknown.
//
//	error or answer                                   verdict
//	------------------------------------------------  ------------------------------------------------
//	no answer: the connection could not be made       refused (Server), not sent
//	no answer: time-out, connection lost, cancelled   unknown
//	an admission webhook or policy denied it          refused (Forbidden), whatever the code
//	429; 503 with Retry-After                         refused (TooManyRequests; Server)
//	any other answer not from the API server itself   unknown
//	401, 403                                          refused (Forbidden, Quota or NamespaceTerminating)
//	404 of an object                                  refused (NotFound; a namespace: NamespaceTerminating)
//	409                                               refused (NameTaken, Conflict)
//	4xx other than 408                                refused (Invalid; NotFound when metadata.uid is the cause)
//	500: a webhook could not be called                refused (Server)
//	408, other 404, other 5xx                         unknown; over if an InternalError or ServiceUnavailable
func verdictOf(err error) verdict {
	v := verdict{ending: events.OutcomeUnknown, sent: true, message: bounded(err.Error(), maxMessage)}
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			v.refuse(events.RefusedServer)
			v.sent = false
		}
		return v
	}
	status := api.Status()
	v.reason = bounded(string(status.Reason), maxReason)
	v.message = bounded(status.Message, maxMessage)
	if status.Details != nil {
		v.retryAfter = min(time.Duration(status.Details.RetryAfterSeconds)*time.Second, maxRetryAfter)
	}
	if class := classOf(&status, v.retryAfter > 0); class != 0 {
		v.refuse(class)
	} else {
		answered := status.Reason == metav1.StatusReasonInternalError || status.Reason == metav1.StatusReasonServiceUnavailable
		v.over = answered && !foreign(&status)
	}
	return v
}

func (v *verdict) refuse(class events.RefusalClass) { v.ending, v.class = events.Refused, class }

// classOf returns why the server refused the request; 0 if the effect of the request is unknown. patience says that the
// answer has a Retry-After.
func classOf(s *metav1.Status, patience bool) events.RefusalClass {
	switch {
	case strings.HasPrefix(s.Message, "admission webhook "), strings.Contains(s.Message, " is forbidden: ValidatingAdmissionPolicy '"):
		return events.RefusedForbidden // the author of the webhook or policy chose the code, so the code tells nothing
	case s.Code == http.StatusTooManyRequests:
		return events.RefusedTooManyRequests
	case s.Code == http.StatusServiceUnavailable && patience:
		return events.RefusedServer
	case foreign(s):
		return 0 // a proxy answered, so it is unknown whether the server carried out the request
	case s.Code == http.StatusInternalServerError && strings.Contains(s.Message, "failed calling webhook"):
		return events.RefusedServer // webhooks are called before the object is stored, so nothing was stored
	case s.Code >= http.StatusInternalServerError, s.Code == http.StatusRequestTimeout:
		return 0
	case s.Code >= http.StatusBadRequest:
		return classOfRequest(s)
	}
	return 0
}

// classOfRequest returns why the server refused the request, for an answer with code 400 to 499. 0 means unknown
// effect.
func classOfRequest(s *metav1.Status) events.RefusalClass {
	switch s.Code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return classOfForbidden(s)
	case http.StatusNotFound:
		if s.Details != nil && s.Details.Kind == "namespaces" {
			return events.RefusedNamespaceTerminating // the namespace is gone
		}
		if s.Details == nil || s.Details.Name == "" {
			return 0 // the server does not know the resource, which tells nothing about the object
		}
		return events.RefusedNotFound
	case http.StatusConflict:
		if s.Reason == metav1.StatusReasonAlreadyExists {
			return events.RefusedNameTaken
		}
		return events.RefusedConflict
	case http.StatusUnprocessableEntity:
		if blames(s, "metadata.uid") {
			return events.RefusedNotFound // another object has the name
		}
	}
	return events.RefusedInvalid
}

// ofQuota matches a refusal by a resource quota: the quota is used up, it requires a value that the pod lacks, or its
// usage is not computed yet.
var ofQuota = regexp.MustCompile(` is forbidden: (exceeded|failed|status unknown for) quota: `)

func classOfForbidden(s *metav1.Status) events.RefusalClass {
	switch {
	case caused(s, corev1.NamespaceTerminatingCause):
		return events.RefusedNamespaceTerminating
	case ofQuota.MatchString(s.Message):
		return events.RefusedQuota
	}
	return events.RefusedForbidden
}

// foreign reports whether the answer did not come from the API server itself, but for example from a proxy. The client
// then makes up a Status from the HTTP code alone.
func foreign(s *metav1.Status) bool { return caused(s, metav1.CauseTypeUnexpectedServerResponse) }

func caused(s *metav1.Status, cause metav1.CauseType) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Type == cause })
}

func blames(s *metav1.Status, field string) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == field })
}

// bounded returns s as valid UTF-8 of at most limit bytes. A shortened text ends with "…".
func bounded(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	cut := limit - len(cutMark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + cutMark
}
