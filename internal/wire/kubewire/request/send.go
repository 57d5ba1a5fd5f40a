package request

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/metrics"
)

// Sender sends requests whose bodies are already encoded, over the connections of a typed client. It is cheaper than a
// rest.Request, which computes its URL five times and looks up a decoder for the answer. Metrics, warnings and errors
// are the same as those of package rest.
type Sender struct {
	client *http.Client
	base   url.URL
	group  string
}

// NewSender returns a Sender that uses the connections of typed, the client of a typed API. ok is false for a fake
// client, which sends no requests.
func NewSender(typed rest.Interface) (s *Sender, ok bool) {
	client, ok := typed.(*rest.RESTClient)
	if !ok || client == nil {
		return nil, false
	}
	s = &Sender{client: client.Client, base: *client.Get().URL(), group: client.APIVersion().Group}
	if s.client == nil {
		s.client = http.DefaultClient
	}
	return s, true
}

// Request is a request about one object in a namespace, or about one of its subresources.
type Request struct {
	Verb                                   string
	Namespace, Resource, Name, Subresource string
	Query                                  string
	ContentType                            string
	Body                                   []byte
}

// Send sends a request once, and calls read with the answer, which is valid only during that call. It returns the API
// server's error if the request was refused, the transport's error if there was no answer, and otherwise the error of
// read.
func (s *Sender) Send(ctx context.Context, r *Request, read func(answer []byte) error) error {
	began := time.Now()
	request := s.prepare(ctx, r)
	response, err := s.client.Do(request)
	code := "<error>"
	if err == nil {
		defer response.Body.Close()
		code = strconv.Itoa(response.StatusCode)
		err = s.take(ctx, r, response, read)
	}
	metrics.RequestSize.Observe(ctx, r.Verb, s.base.Host, float64(len(r.Body)))
	metrics.RequestResult.Increment(ctx, code, r.Verb, s.base.Host)
	metrics.RequestLatency.Observe(ctx, r.Verb, s.base, time.Since(began))
	return err
}

var accept = []string{runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON}

func (s *Sender) prepare(ctx context.Context, r *Request) *http.Request {
	u := s.base
	u.Path += "/namespaces/" + r.Namespace + "/" + r.Resource
	for _, part := range []string{r.Name, r.Subresource} {
		if part != "" {
			u.Path += "/" + part
		}
	}
	u.RawQuery = r.Query
	request := &http.Request{
		Method: r.Verb, URL: &u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Accept": accept},
	}
	if len(r.Body) > 0 {
		request.Header["Content-Type"] = []string{r.ContentType}
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
	}
	return request.WithContext(ctx)
}

var buffers = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// most is the largest size, in bytes, of a buffer that is kept and used again for the next answer.
const most = 64 << 10

// take reads the answer of a request, counts it in the metrics, logs the server's warnings, and calls read with the
// body.
func (s *Sender) take(ctx context.Context, r *Request, response *http.Response, read func([]byte) error) error {
	b := buffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Reset(); b.Cap() <= most {
			buffers.Put(b)
		}
	}()
	_, err := b.ReadFrom(response.Body)
	if err != nil {
		return err
	}
	metrics.ResponseSize.Observe(ctx, r.Verb, s.base.Host, float64(b.Len()))
	if said := response.Header["Warning"]; len(said) > 0 {
		warnings, _ := utilnet.ParseWarningHeaders(said)
		for _, w := range warnings {
			rest.WarningLogger{}.HandleWarningHeaderWithContext(ctx, w.Code, w.Agent, w.Text)
		}
	}
	if response.StatusCode < http.StatusOK || response.StatusCode > http.StatusPartialContent {
		return s.refusal(r, response, b.Bytes())
	}
	return read(b.Bytes())
}

// mostText is the largest part of an answer that an error quotes, in bytes, if the answer is not a Status.
const mostText = 2048

// refusal returns the error for an answer that refuses a request: the Status in the answer, or, if it has none, an
// error made from the status code.
func (s *Sender) refusal(r *Request, response *http.Response, body []byte) error {
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, &schema.GroupVersionKind{Version: "v1"}, nil)
	if status, ok := o.(*metav1.Status); err == nil && ok && status.Status == metav1.StatusFailure {
		status.TypeMeta = metav1.TypeMeta{}
		return apierrors.FromObject(status)
	}
	text := "unknown"
	if kind := response.Header.Get("Content-Type"); kind == "" || strings.HasPrefix(kind, "text/") {
		text = strings.TrimSpace(string(body[:min(len(body), mostText)]))
	}
	after, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil {
		after = 0
	}
	return apierrors.NewGenericServerResponse(
		response.StatusCode, r.Verb, schema.GroupResource{Group: s.group, Resource: r.Resource}, r.Name, text, after, true)
}
