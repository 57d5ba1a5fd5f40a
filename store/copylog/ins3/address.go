package ins3

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Scheme begins the address of a copy of a log that is in a bucket.
const Scheme = "s3://"

// publicEndpoint is the URL of the S3 server if neither the address nor the environment names one.
const publicEndpoint = "https://s3.amazonaws.com"

// tries is the number of attempts, within a few seconds, for a request that fails temporarily. After that the process
// that makes the copy tries again later.
const tries = 4

// New returns the place (store for a copy of a log) with an address: s3://BUCKET/PREFIX, with ?endpoint=URL for a
// server other than Amazon's, and &region=NAME if the server needs it. Without them, AWS_ENDPOINT_URL and AWS_REGION
// are used. Credentials come only from the environment, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
// (AWS_SESSION_TOKEN), or from the role of the machine or the pod.
func New(address string, getenv func(string) string) (*Place, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://" != Scheme || u.Host == "" {
		return nil, errors.New("an address such as s3://BUCKET/PREFIX is wanted")
	}
	if u.User != nil {
		return nil, errors.New("no keys belong into the address: give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("read what follows the question mark: %w", err)
	}
	for name := range query {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("?%s= is unknown; there are endpoint and region", name)
		}
	}
	endpoint := first(query.Get("endpoint"), getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"), publicEndpoint)
	server, err := url.Parse(endpoint)
	if err != nil || server.Host == "" || server.Scheme != "http" && server.Scheme != "https" || strings.Trim(server.Path, "/") != "" {
		return nil, fmt.Errorf("endpoint %q: a URL such as https://minio.example.com:9000 is wanted", endpoint)
	}
	client, err := minio.NewCore(server.Host, &minio.Options{
		MaxRetries: tries,
		Creds:      keys(getenv), Secure: server.Scheme == "https", Region: first(query.Get("region"), getenv("AWS_REGION"), "us-east-1"),
	})
	if err != nil {
		return nil, err
	}
	return &Place{client: client, bucket: u.Host, prefix: strings.Trim(u.Path, "/")}, nil
}

// keys returns the credentials in the environment; if there are none, those of the machine's or pod's role.
func keys(getenv func(string) string) *credentials.Credentials {
	if id := getenv("AWS_ACCESS_KEY_ID"); id != "" {
		return credentials.NewStaticV4(id, getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN"))
	}
	return credentials.NewIAM("")
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
