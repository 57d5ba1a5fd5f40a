package identity

import (
	"fmt"
	"net/http"
)

// RefusedError says why a request is refused, in words for the user.
type RefusedError struct {
	status int
	says   string
}

// Error returns the reason of the refusal, for the user.
func (e *RefusedError) Error() string { return e.says }

// HTTPStatus returns the status of the answer: 401 for an unknown user, 403 for a missing right, 503 if the API server
// does not answer.
func (e *RefusedError) HTTPStatus() int { return e.status }

func nobody(says string) error { return &RefusedError{http.StatusUnauthorized, says} }

func away() error {
	return &RefusedError{
		http.StatusServiceUnavailable, "the API server could not be asked whether that is allowed: try again",
	}
}

// lacks returns the error for a user without the right to list Jobs in a namespace; in all namespaces if namespace is
// empty. why is added to the text.
func lacks(u User, namespace, why string) error {
	where := "in all namespaces"
	if namespace != "" {
		where = "in namespace " + namespace
	}
	return &RefusedError{http.StatusForbidden, fmt.Sprintf("user %q may not list jobs (batch) %s%s", u.Name, where, why)}
}
