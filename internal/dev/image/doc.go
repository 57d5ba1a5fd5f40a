// Command image builds the container image of Jobledger without a container engine: 'make image'.
//
// It compiles the program for each platform and puts it, with the licences of its modules, as the only layer on an
// empty image. It writes the files of a release into one directory:
//
//	jobledger-VERSION.oci.tar        OCI archive of all platforms ('ctr images import', 'skopeo copy oci-archive:…')
//	jobledger-VERSION-ARCH.cdx.json  the parts of that platform's program (SBOM, CycloneDX 1.6)
//	jobledger-VERSION.intoto.json    the origin of the image (in-toto statement, SLSA provenance v1), unsigned
//
// 'image tree' builds an image of arbitrary files, for tests.
//
// The same commit, built with the same Go version, gives the same bytes: they contain no clock, path or user of the
// machine. All times are that of the commit.
package main
