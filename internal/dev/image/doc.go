// Command image builds the container image of Jobledger without a container engine: 'make image'.
//
// It compiles the program for each platform, puts it as the only layer on an empty image, with the licences of its
// modules, and writes what belongs to a release into one directory:
//
//	jobledger-VERSION.oci.tar        the image, an OCI archive of all platforms ('ctr images import', 'skopeo copy oci-archive:…')
//	jobledger-VERSION-ARCH.cdx.json  what the program of that platform is made of (SBOM, CycloneDX 1.6)
//	jobledger-VERSION.intoto.json    where the image comes from (in-toto statement, SLSA provenance v1), unsigned
//
// 'image tree' makes an image of whatever files, for tests.
//
// The same commit, built with the same Go, gives the same bytes: no clock, path or user of the machine is in them.
// Times are those of the commit.
package main
