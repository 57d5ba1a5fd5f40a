package acting

import (
	"strings"

	"github.com/jobledger/jobledger/cmd/cli"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/copylog/ins3"
)

// placeHelp is a part of help texts: how to name the directory or bucket of a copy.
const placeHelp = `The place of a copy is a directory (DIR, or file:///DIR), or a part of a bucket:
s3://BUCKET/PREFIX?endpoint=https://SERVER&region=REGION, without the question mark for Amazon's.
AWS_ENDPOINT_URL and AWS_REGION of the environment do as well. The keys are those in
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the role of the machine or the pod. Each log wants a
place of its own. The objects have the same names and bytes in a directory and in a bucket, so a copy
may be copied on by any tool.`

// placeOf returns the directory or bucket for a copy that a flag names, or a usage error.
func placeOf(getenv func(string) string, flag, address string) (copylog.Place, error) {
	if address == "" {
		return nil, cli.Usage("say where the copy is: --%s DIR, or --%s s3://BUCKET/PREFIX", flag, flag)
	}
	if strings.HasPrefix(address, ins3.Scheme) {
		p, err := ins3.New(address, getenv)
		if err != nil {
			return nil, cli.Usage("--%s: %v", flag, err)
		}
		return withFailpoints(p)
	}
	dir, is := directoryOf(address)
	if !is {
		return nil, cli.Usage("--%s=%s: a copy is in a directory or in a bucket (s3://BUCKET/PREFIX)", flag, address)
	}
	return withFailpoints(indir.New(dir))
}

// directoryOf returns the directory that the address of a copy names; is is false if the address is not that of a
// directory.
func directoryOf(address string) (dir string, is bool) {
	dir = strings.TrimPrefix(address, "file://")
	return dir, !strings.Contains(dir, "://")
}
