package kubewire

import (
	"hash/maphash"
	"strings"
)

// Parts in which the specs of pods from one template may differ. Admission adds a volume with the service account's
// token, under a random name, and mounts it in each container. Pods of an Indexed Job have their index in an
// environment variable.
const (
	TokenVolume   = "kube-api-access-" // the volume's name begins with this; the rest is random
	TokenMount    = "/var/run/secrets/kubernetes.io/serviceaccount"
	IndexVariable = "JOB_COMPLETION_INDEX"
)

var printSeed = maphash.MakeSeed()

// Print returns a hash of the spec in Whole, to see whether two pods have the same. It leaves out the host name and the
// parts named above, so pods of the same template have the same hash. Each process computes other hashes.
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

// printContainer adds a container to a hash, without the mount of the token and the variable with the index.
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

// firstText returns the first field with this number as a string; empty if there is none.
func firstText(b []byte, number int) string {
	var err error
	for f := (fields{rest: b}); f.next(&err); {
		if int(f.number) == number {
			return string(f.bytes)
		}
	}
	return ""
}
