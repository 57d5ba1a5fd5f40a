//go:build failpoints

package acting

import (
	"os"

	"github.com/jobledger/jobledger/internal/run/failpoint"
	"github.com/jobledger/jobledger/store/copylog"
)

// withFailpoints returns place, the destination of a copy, with points at which an environment variable can make this
// process end. Crash tests use it.
func withFailpoints(place copylog.Place) (copylog.Place, error) {
	points, err := failpoint.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	return points.Place(place), nil
}
