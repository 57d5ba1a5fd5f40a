package identity

import (
	"fmt"
	"net/http"
)

// RefusedError says why a request is not answered, in words for who asks.
type RefusedError struct {
	status int
	says   string
}

// Error is what is told.
func (e *RefusedError) Error() string { return e.says }

// HTTPStatus is the status of the answer: 401 for nobody, 403 for a right that is missing, 503 where the API server does
// not answer.
func (e *RefusedError) HTTPStatus() int { return e.status }

func nobody(says string) error { return &RefusedError{http.StatusUnauthorized, says} }

func away() error {
	return &RefusedError{
		http.StatusServiceUnavailable, "the API server could not be asked whether that is allowed: try again",
	}
}

// lacks names the right that is missing.
func lacks(u User, namespace, why string) error {
	where := "in all namespaces"
	if namespace != "" {
		where = "in namespace " + namespace
	}
	return &RefusedError{http.StatusForbidden, fmt.Sprintf("user %q may not list jobs (batch) %s%s", u.Name, where, why)}
}
