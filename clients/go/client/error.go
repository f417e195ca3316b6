package client

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

const maxRetryAfter = time.Minute

var retryableCodes = map[string]bool{
	"INTERNAL_SERVER_ERROR": true, "SERVICE_UNAVAILABLE": true, "OVERLOADED": true, "TIMEOUT": true, "RATE_LIMITED": true,
}

// Kind of an Error.
type Kind string

const (
	// The call got no answer.
	KindNetwork Kind = "network"
	// The answer was not one of the API.
	KindHTTP    Kind = "http"
	KindGraphQL Kind = "graphql"
	// The token is missing, invalid or not allowed to connect.
	KindUnauthorized Kind = "unauthorized"
)

// An Error is why a call got no result. Its text never holds the token.
type Error struct {
	Kind    Kind
	Message string
	// Empty if the server has named none.
	Code   string
	Status int
	// The same call may succeed later, unchanged.
	Retryable bool
	// The server takes the call again after this time; zero if it has not said.
	RetryAfter time.Duration
	Extensions map[string]any
	// The error of the network or the context.
	cause error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.cause }

func networkError(cause error, token string) error {
	return &Error{Kind: KindNetwork, Message: strings.ReplaceAll(cause.Error(), token, "…"), Retryable: true, cause: cause}
}

func (r reply) noResult() error {
	message := fmt.Sprintf("The server answered %d without a result.", r.status)
	return &Error{Kind: KindHTTP, Message: message, Status: r.status, Retryable: isRetryable(r.status)}
}

// The error that the answer holds, or nil.
func (r reply) error() error {
	var answer struct {
		Errors []struct {
			Message    string
			Extensions map[string]any
		}
	}
	// A page of a proxy is no JSON.
	_ = json.Unmarshal(r.text, &answer)
	isForbidden := r.status == http.StatusUnauthorized || r.status == http.StatusForbidden
	if len(answer.Errors) == 0 && !isForbidden {
		return nil
	}
	found := &Error{Kind: KindGraphQL, Message: fmt.Sprintf("The server answered %d.", r.status), Status: r.status}
	if len(answer.Errors) > 0 {
		first := answer.Errors[0]
		found.Extensions = first.Extensions
		if first.Message != "" {
			found.Message = first.Message
		}
	}
	code, _ := found.Extensions["code"].(string)
	if isForbidden || code == "UNAUTHENTICATED" || code == "UNAUTHORIZED" {
		found.Kind = KindUnauthorized
	}
	if isForbidden {
		return found
	}
	found.Code = code
	after, saysWhen := found.Extensions["retryAfterMs"].(float64)
	found.RetryAfter = time.Duration(math.Max(0, math.Min(after, float64(maxRetryAfter/time.Millisecond)))) * time.Millisecond
	found.Retryable = retryableCodes[code] || isRetryable(r.status) || saysWhen
	return found
}

func isRetryable(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}
