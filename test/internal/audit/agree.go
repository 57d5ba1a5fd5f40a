package audit

import (
	"net/http"

	"github.com/jobledger/jobledger/events"
)

// tried reports whether the request of the outcome was certainly made, so that the audit log must have its writes.
func (o *outcome) tried() bool {
	return o.Sent && (o.Ending == events.Done || o.Ending == events.Refused || o.said != "")
}

// maybe reports whether the request may or may not have arrived: the connection broke, or no answer came in time.
func (o *outcome) maybe() bool { return o.Sent && !o.tried() }

// mayMake reports whether a write with this answer may have made its object. A server that gave up, for example after
// the client hung up, may have stored it all the same.
func mayMake(code int) bool {
	return accepted(code) || code == http.StatusRequestTimeout || code >= http.StatusInternalServerError
}

// agrees reports whether a controller that got the answer of w records this outcome. made: an earlier write may have
// made the object.
func (o *outcome) agrees(w *Write, made bool) bool {
	meets := w.Kind == events.CommandCreatePod && w.Told == http.StatusConflict // then it reads the pod's owner
	switch o.Ending {
	case events.Done:
		return accepted(w.Told) || meets && made
	case events.OutcomeUnknown:
		return meets || o.said == "" || uncertain(w.Told)
	case events.Refused:
		return refusedBy(o.Class, w.Told) // also if a create meets its own pod: a user may have taken its owner away
	}
	return false
}

func accepted(code int) bool { return code >= 200 && code < 300 }

// uncertain reports whether an answer leaves open whether the write took effect.
func uncertain(code int) bool {
	return code == 0 || code == http.StatusRequestTimeout || code == http.StatusNotFound || code >= http.StatusInternalServerError
}

// codes are the codes with which the API server refuses, for each class of refusal; nil: no write is made.
var codes = map[events.RefusalClass][]int{
	events.RefusedConflict:             {http.StatusConflict},
	events.RefusedNotFound:             {http.StatusNotFound, http.StatusUnprocessableEntity}, // 422: another UID has the name
	events.RefusedNameTaken:            {http.StatusConflict},
	events.RefusedInvalid:              {http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
	events.RefusedForbidden:            {http.StatusForbidden, http.StatusUnauthorized},
	events.RefusedQuota:                {http.StatusForbidden},
	events.RefusedNamespaceTerminating: {http.StatusForbidden, http.StatusNotFound},
	events.RefusedTooManyRequests:      {http.StatusTooManyRequests},
	events.RefusedServer:               {http.StatusServiceUnavailable, http.StatusInternalServerError},
	events.RefusedTemplate:             nil,
}

func refusedBy(class events.RefusalClass, code int) bool {
	for _, c := range codes[class] {
		if c == code {
			return true
		}
	}
	return false
}
