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

// Limits on server-provided values, in bytes and time.
const (
	maxReason     = 256
	maxMessage    = 1 << 10
	maxRetryAfter = time.Minute // no answer delays us longer than our own backoff (J-017)
)

const cutMark = "…"

// verdict is what an error proves.
type verdict struct {
	ending     events.Ending
	class      events.RefusalClass // 0 unless refused
	retryAfter time.Duration
	sent       bool // the request may have reached the server
	over       bool // unknown outcome, but the server has finished with the request
	reason     string
	message    string
}

// verdictOf classifies the error of a request. Refused means that certainly nothing happened; any doubt is unknown.
//
//	answer                                            verdict
//	------------------------------------------------  ------------------------------------------------
//	none: the connection could not be made            refused (Server), not sent
//	none: time-out, connection lost, context ended    unknown
//	an admission webhook or policy denied it          refused (Forbidden), whatever the code
//	429; 503 with Retry-After                         refused (TooManyRequests; Server)
//	any other that the API server did not write       unknown
//	401, 403                                          refused (Forbidden, Quota or NamespaceTerminating)
//	404 of an object                                  refused (NotFound; a namespace: NamespaceTerminating)
//	409                                               refused (NameTaken, Conflict)
//	other 4xx but 408                                 refused (Invalid; NotFound when metadata.uid is the cause)
//	500: a webhook could not be asked                 refused (Server)
//	408, other 404, other 5xx                         unknown; an InternalError or ServiceUnavailable of the API server is over
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

// classOf returns the class of a refusal; 0 if the outcome is unknown.
func classOf(s *metav1.Status, patience bool) events.RefusalClass {
	switch {
	case strings.HasPrefix(s.Message, "admission webhook "), strings.Contains(s.Message, " is forbidden: ValidatingAdmissionPolicy '"):
		return events.RefusedForbidden // the webhook's or policy's author chose the code: it says nothing about the object
	case s.Code == http.StatusTooManyRequests:
		return events.RefusedTooManyRequests
	case s.Code == http.StatusServiceUnavailable && patience:
		return events.RefusedServer
	case foreign(s):
		return 0 // a proxy answered
	case s.Code == http.StatusInternalServerError && strings.Contains(s.Message, "failed calling webhook"):
		return events.RefusedServer // admission comes before storage
	case s.Code >= http.StatusInternalServerError, s.Code == http.StatusRequestTimeout:
		return 0
	case s.Code >= http.StatusBadRequest:
		return classOfRequest(s)
	}
	return 0
}

// classOfRequest returns the class of an answer with code 400 to 499.
func classOfRequest(s *metav1.Status) events.RefusalClass {
	switch s.Code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return classOfForbidden(s)
	case http.StatusNotFound:
		if s.Details != nil && s.Details.Kind == "namespaces" {
			return events.RefusedNamespaceTerminating // past its deletion
		}
		if s.Details == nil || s.Details.Name == "" {
			return 0 // the resource is unknown, not the object
		}
		return events.RefusedNotFound
	case http.StatusConflict:
		if s.Reason == metav1.StatusReasonAlreadyExists {
			return events.RefusedNameTaken
		}
		return events.RefusedConflict
	case http.StatusUnprocessableEntity:
		if blames(s, "metadata.uid") {
			return events.RefusedNotFound // another object has its place
		}
	}
	return events.RefusedInvalid
}

// ofQuota matches a refusal by a quota: it is used up, it needs a value that the pod lacks, or it is not counted yet.
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

// foreign reports whether the answer was not a Status of the API server; the client then builds one from the code
// alone.
func foreign(s *metav1.Status) bool { return caused(s, metav1.CauseTypeUnexpectedServerResponse) }

func caused(s *metav1.Status, cause metav1.CauseType) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Type == cause })
}

func blames(s *metav1.Status, field string) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Field == field })
}

// bounded returns s as valid UTF-8 of at most limit bytes, and marks a cut.
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
