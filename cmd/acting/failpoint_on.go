//go:build failpoints

package acting

import (
	"os"

	"github.com/jobledger/jobledger/internal/run/failpoint"
	"github.com/jobledger/jobledger/store/copylog"
)

// withFailpoints wraps the place of a copy with points at which the environment can make this process end.
func withFailpoints(place copylog.Place) (copylog.Place, error) {
	points, err := failpoint.FromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	return points.Place(place), nil
}
