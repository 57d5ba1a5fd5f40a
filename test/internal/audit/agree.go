package audit

import (
	"net/http"

	"github.com/jobledger/jobledger/events"
)

// tried reports whether the outcome is one of a request that was made for certain: its writes have to be there.
func (o *outcome) tried() bool {
	return o.Sent && (o.Ending == events.Done || o.Ending == events.Refused || o.said != "")
}

// maybe reports whether there may be a write, and need not: the connection ended, or the wait for an answer.
func (o *outcome) maybe() bool { return o.Sent && !o.tried() }

// mayMake reports whether a write with that answer may have made its object: a server that gave up waiting, as after
// the client hung up, may have stored it all the same.
func mayMake(code int) bool {
	return accepted(code) || code == http.StatusRequestTimeout || code >= http.StatusInternalServerError
}

// agrees reports whether a controller that was told what the write says has that outcome. Made: a write before it may
// have made the object.
func (o *outcome) agrees(w *Write, made bool) bool {
	meets := w.Kind == events.CommandCreatePod && w.Told == http.StatusConflict // then it looks for whose the pod is
	switch o.Ending {
	case events.Done:
		return accepted(w.Told) || meets && made
	case events.OutcomeUnknown:
		return meets || o.said == "" || uncertain(w.Told)
	case events.Refused:
		return refusedBy(o.Class, w.Told) // of a pod of its own, too: a user may have taken its owner away
	}
	return false
}

func accepted(code int) bool { return code >= 200 && code < 300 }

// uncertain reports whether an answer leaves open what happened.
func uncertain(code int) bool {
	return code == 0 || code == http.StatusRequestTimeout || code == http.StatusNotFound || code >= http.StatusInternalServerError
}

// codes are those by which the API server refuses for a reason of each class; nil where no write is made.
var codes = map[events.RefusalClass][]int{
	events.RefusedConflict:             {http.StatusConflict},
	events.RefusedNotFound:             {http.StatusNotFound, http.StatusUnprocessableEntity}, // the latter: another UID has the name
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
