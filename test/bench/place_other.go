//go:build !linux

package bench

import "errors"

// divide returns an error: processors can be chosen only on Linux.
func divide() (pinned func(pid int) error, err error) {
	return nil, errors.New("processors can be chosen on Linux alone: use the place same")
}
