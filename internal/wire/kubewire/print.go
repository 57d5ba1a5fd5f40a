package kubewire

import (
	"hash/maphash"
	"strings"
)

// Parts in which the specs of pods from one template differ. Admission adds a volume with the service account's token,
// under a random name, and mounts it in each container. Pods of an Indexed Job have their index in a variable.
const (
	TokenVolume   = "kube-api-access-" // prefix of the name
	TokenMount    = "/var/run/secrets/kubernetes.io/serviceaccount"
	IndexVariable = "JOB_COMPLETION_INDEX"
)

var printSeed = maphash.MakeSeed()

// Print returns a hash of the spec in Whole. It leaves out the host name and the parts named above, so pods from the
// same template have the same hash. The hash is a different one in each process.
func (s *PodSpec) Print() uint64 {
	var h maphash.Hash
	h.SetSeed(printSeed)
	var err error
	for f := (fields{rest: s.Whole}); ; {
		from := f.rest
		if !f.next(&err) {
			return h.Sum64()
		}
		switch whole := from[:len(from)-len(f.rest)]; f.number {
		case 1:
			if !strings.HasPrefix(firstText(f.bytes, 1), TokenVolume) {
				h.Write(whole)
			}
		case 2, 20:
			printContainer(&h, f.bytes)
		case 16:
		default:
			h.Write(whole)
		}
	}
}

// printContainer hashes a container, except the token's mount and the index variable.
func printContainer(h *maphash.Hash, b []byte) {
	var err error
	h.WriteByte(0)
	for f := (fields{rest: b}); ; {
		from := f.rest
		if !f.next(&err) {
			return
		}
		switch {
		case f.number == 9 && firstText(f.bytes, 3) == TokenMount:
		case f.number == 7 && firstText(f.bytes, 1) == IndexVariable:
		default:
			h.Write(from[:len(from)-len(f.rest)])
		}
	}
}

// firstText returns the first field with this number as text; empty if there is none.
func firstText(b []byte, number int) string {
	var err error
	for f := (fields{rest: b}); f.next(&err); {
		if int(f.number) == number {
			return string(f.bytes)
		}
	}
	return ""
}
