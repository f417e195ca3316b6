// Package client calls the API of Phaseline over HTTP, and follows its log.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	defaultTimeout        = 30 * time.Second
	defaultMaxAnswerBytes = 128 << 20
)

// Options of a client. One of Token and TokenFunc is required.
type Options struct {
	Token string
	// Called for each call, and once more if the server refuses what it has returned.
	TokenFunc func(ctx context.Context) (string, error)
	// Time that a call may take whose context has no deadline. By default 30 seconds.
	Timeout time.Duration
	// The largest answer that is read. By default 128 MiB.
	MaxAnswerBytes int64
	// Its TLS trusts the certificates of the system by default.
	Transport http.RoundTripper
}

// A Client calls one server as one principal. It may be used by several goroutines.
type Client struct {
	endpoint url.URL
	// A function, so that no print of the client shows the token.
	token    func(ctx context.Context) (string, error)
	timeout  time.Duration
	maxBytes int64
	http     http.Client
}

// New makes a client of a server. Its address is the endpoint of GraphQL, or that of the server alone.
func New(address string, options Options) (*Client, error) {
	endpoint, err := url.Parse(address)
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return nil, errors.New("the URL must be an http or https URL")
	}
	if endpoint.User != nil {
		return nil, errors.New("the URL must not hold credentials")
	}
	if endpoint.Path == "" || endpoint.Path == "/" {
		endpoint.Path = "/graphql"
	}
	token := options.TokenFunc
	if token == nil {
		if err := checkToken(options.Token); err != nil {
			return nil, err
		}
		token = func(context.Context) (string, error) { return options.Token, nil }
	}
	client := &Client{endpoint: *endpoint, token: token, timeout: options.Timeout, maxBytes: options.MaxAnswerBytes}
	if client.timeout <= 0 {
		client.timeout = defaultTimeout
	}
	if client.maxBytes <= 0 {
		client.maxBytes = defaultMaxAnswerBytes
	}
	if client.http.Transport = options.Transport; client.http.Transport == nil {
		client.http.Transport = &http.Transport{
			Proxy:           http.ProxyFromEnvironment,
			IdleConnTimeout: 90 * time.Second,
			// An agent claims, renews, reports and sends output at the same time.
			MaxIdleConnsPerHost: 8,
			// No HTTP/2: all calls would share a connection that is broken, where each breaks its own by its timeout.
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		}
	}
	// A redirect would carry the token elsewhere.
	client.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, nil
}

// Timeout is the time that a call may take whose context has no deadline.
func (c *Client) Timeout() time.Duration { return c.timeout }

// Query calls one query or mutation, and decodes its data. It repeats nothing: the caller decides, by the Retryable of an Error.
func (c *Client) Query(ctx context.Context, document string, variables, data any) error {
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		return err
	}
	found, err := c.send(ctx, http.MethodPost, &c.endpoint, body)
	if err != nil {
		return err
	}
	if err := found.error(); err != nil {
		return err
	}
	var answer struct{ Data json.RawMessage }
	if json.Unmarshal(found.text, &answer) != nil || !bytes.HasPrefix(answer.Data, []byte("{")) {
		return found.noResult()
	}
	return json.Unmarshal(answer.Data, data)
}

// Mutate calls one mutation whose result is a union of a payload and errors, and decodes the payload.
func (c *Client) Mutate(ctx context.Context, field, document string, input, payload any) error {
	var data map[string]json.RawMessage
	if err := c.Query(ctx, document, map[string]any{"input": input}, &data); err != nil {
		return err
	}
	var result struct {
		Typename string `json:"__typename"`
		Message  string
		Code     string
	}
	if json.Unmarshal(data[field], &result) != nil || result.Typename == "" {
		return &Error{Kind: KindGraphQL, Message: "The server answered " + field + " without a result.", Retryable: true}
	}
	if strings.HasSuffix(result.Typename, "Error") {
		return &Error{Kind: KindGraphQL, Message: result.Message, Code: result.Code}
	}
	return json.Unmarshal(data[field], payload)
}

type reply struct {
	status int
	link   string
	text   []byte
}

func (c *Client) send(ctx context.Context, method string, to *url.URL, body []byte) (reply, error) {
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		ctx = bounded
	}
	first, err := c.askToken(ctx)
	if err != nil {
		return reply{}, err
	}
	found, err := c.call(ctx, method, to, body, first)
	if err != nil || found.status != http.StatusUnauthorized {
		return found, err
	}
	second, err := c.askToken(ctx)
	if err != nil || second == first {
		return found, err
	}
	return c.call(ctx, method, to, body, second)
}

func (c *Client) askToken(ctx context.Context) (string, error) {
	token, err := c.token(ctx)
	if err != nil {
		return "", err
	}
	return token, checkToken(token)
}

func (c *Client) call(ctx context.Context, method string, to *url.URL, body []byte, token string) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/graphql-response+json, application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, networkError(err, token)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, c.maxBytes+1))
	if err != nil {
		return reply{}, networkError(err, token)
	}
	if int64(len(text)) > c.maxBytes {
		message := fmt.Sprintf("The answer is larger than %d bytes.", c.maxBytes)
		return reply{}, &Error{Kind: KindHTTP, Message: message, Status: response.StatusCode}
	}
	return reply{response.StatusCode, response.Header.Get("Link"), text}, nil
}

func checkToken(token string) error {
	// Programs pass a variable that is not set.
	if token == "" {
		return errors.New("there is no token: it is empty")
	}
	for _, char := range token {
		if char < 0x21 || char > 0x7e {
			return errors.New("the token must be printable ASCII without blanks")
		}
	}
	return nil
}
