package audit

import (
	"net/http"

	"github.com/jobledger/jobledger/events"
)

// tried reports whether the request that led to an outcome has certainly reached the API server, so that it must be in
// the audit log.
func (o *outcome) tried() bool {
	return o.Sent && (o.Ending == events.Done || o.Ending == events.Refused || o.said != "")
}

// maybe reports whether it is unknown if the request has reached the API server: the connection broke, or no answer
// came in time.
func (o *outcome) maybe() bool { return o.Sent && !o.tried() }

// mayMake reports whether a create that was answered with this code may have created its object. Also after a timeout
// or an error of the server the object may exist.
func mayMake(code int) bool {
	return accepted(code) || code == http.StatusRequestTimeout || code >= http.StatusInternalServerError
}

// agrees reports whether a controller that received the answer to w would record this outcome. made is true if an
// earlier write may have created the object.
func (o *outcome) agrees(w *Write, made bool) bool {
	// The controller created a pod whose name exists already. So it reads that pod, and records what it found as the
	// outcome.
	meets := w.Kind == events.CommandCreatePod && w.Told == http.StatusConflict
	switch o.Ending {
	case events.Done:
		return accepted(w.Told) || meets && made
	case events.OutcomeUnknown:
		return meets || o.said == "" || uncertain(w.Told)
	case events.Refused:
		// Also after a conflict about a pod of the controller itself, from which a user has removed the owner.
		return refusedBy(o.Class, w.Told)
	}
	return false
}

func accepted(code int) bool { return code >= 200 && code < 300 }

// uncertain reports whether an answer with this code leaves open if the write took effect. Code 0 stands for no
// answer.
func uncertain(code int) bool {
	return code == 0 || code == http.StatusRequestTimeout || code == http.StatusNotFound || code >= http.StatusInternalServerError
}

// codes maps each class of refusal (as the log records it) to the HTTP codes with which the API server refuses like
// this. nil: the controller refuses by itself, and sends no write.
var codes = map[events.RefusalClass][]int{
	events.RefusedConflict: {http.StatusConflict},
	// 422 means here that an object with another UID has the name
	events.RefusedNotFound:             {http.StatusNotFound, http.StatusUnprocessableEntity},
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
