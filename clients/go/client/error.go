package client

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

const (
	maxRetryAfter = time.Minute
	maxMessages   = 5
)

var (
	retryableCodes = setOf("INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE", "OVERLOADED", "TIMEOUT", "RATE_LIMITED")
	unauthorized   = setOf("UNAUTHENTICATED", "UNAUTHORIZED")
)

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

func noResult(status int) error {
	return &Error{
		Kind:      KindHTTP,
		Message:   fmt.Sprintf("The server answered %d without a result.", status),
		Status:    status,
		Retryable: isRetryable(status),
	}
}

// The error that an answer holds, or nil.
func errorIn(status int, text []byte) error {
	var answer struct {
		Errors []struct {
			Message    string
			Extensions map[string]any
		}
	}
	// A page of a proxy is no JSON.
	_ = json.Unmarshal(text, &answer)
	var messages []string
	for _, one := range answer.Errors {
		// Fields that fail for the same reason say the same.
		if len(messages) < maxMessages && !contains(messages, one.Message) {
			messages = append(messages, one.Message)
		}
	}
	found := &Error{Kind: KindGraphQL, Message: strings.Join(messages, "; "), Status: status}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		found.Kind = KindUnauthorized
		if found.Message == "" {
			found.Message = fmt.Sprintf("The server answered %d.", status)
		}
		return found
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	found.Extensions = answer.Errors[0].Extensions
	found.Code, _ = found.Extensions["code"].(string)
	if unauthorized[found.Code] {
		found.Kind = KindUnauthorized
	}
	after, saysWhen := found.Extensions["retryAfterMs"].(float64)
	found.RetryAfter = time.Duration(math.Max(0, math.Min(after, float64(maxRetryAfter/time.Millisecond)))) * time.Millisecond
	found.Retryable = retryableCodes[found.Code] || isRetryable(status) || saysWhen
	return found
}

func isRetryable(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

func setOf(values ...string) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, value := range values {
		set[value] = true
	}
	return set
}

func contains(values []string, wanted string) bool {
	for _, value := range values {
		if value == wanted {
			return true
		}
	}
	return false
}
