package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/phaseline/phaseline/clients/go/internal/retry"
)

const (
	defaultLimit = 500
	// The server answers earlier if there is a change.
	wait = 25 * time.Second
)

// FollowOptions say which changes of the log are read.
type FollowOptions struct {
	// A cursor, or "head" for the end of the log. Empty: its beginning.
	After string
	// Those of GET /log, such as project=web and to=FAILED,ABORTED.
	Filters url.Values
	// The most changes of a page. By default 500.
	Limit int
	// Called when the cursor is not in the log any more. It returns the place to resume after, usually the commonCursor of
	// the extensions of the error. Without it the error ends Follow.
	OnExpired func(expired *Error) (cursor string, err error)
}

// A LogPage is some changes of the log.
type LogPage struct {
	Changes []PhaseChange
	// The place after them: with After it resumes there.
	Cursor string
}

// Follow calls handle with the log after a cursor, then live: each change exactly once, across lost connections. It ends with the
// context, with an error of handle, or with one that does not pass.
func (c *Client) Follow(ctx context.Context, options FollowOptions, handle func(page LogPage) error) error {
	after := options.After
	for failures := 0; ; {
		page, err := c.readLog(ctx, options, after)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var refusal *Error
		switch {
		case err == nil:
			failures = 0
			moved := page.Cursor != after
			after = page.Cursor
			if moved {
				if err := handle(page); err != nil {
					return err
				}
			}
			// A server that shuts down ends a wait at once.
			if len(page.Changes) == 0 && !retry.Sleep(ctx, retry.Delay(0)) {
				return ctx.Err()
			}
		case !errors.As(err, &refusal):
			return err
		case refusal.Code == "CURSOR_EXPIRED" && options.OnExpired != nil:
			if after, err = options.OnExpired(refusal); err != nil {
				return err
			}
		case !refusal.Retryable:
			return err
		default:
			if !retry.Sleep(ctx, retry.Delay(failures)+refusal.RetryAfter) {
				return ctx.Err()
			}
			failures++
		}
	}
}

// The cursor alone is taken from the link: its address may be that of another machine.
var linkedCursor = regexp.MustCompile(`[?&]after=([^&>]+)`)

func (c *Client) readLog(ctx context.Context, options FollowOptions, after string) (LogPage, error) {
	query := url.Values{}
	for name, values := range options.Filters {
		query[name] = values
	}
	limit := options.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	query.Set("limit", strconv.Itoa(limit))
	query.Set("wait", strconv.Itoa(int(wait.Seconds())))
	if after != "" {
		query.Set("after", after)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout+wait)
	defer cancel()
	to := c.endpoint
	to.Path, to.RawQuery = "/log", query.Encode()
	found, err := c.send(ctx, http.MethodGet, &to, nil)
	if err != nil {
		return LogPage{}, err
	}
	link := linkedCursor.FindStringSubmatch(found.link)
	if found.status != http.StatusOK || link == nil {
		if err := found.error(); err != nil {
			return LogPage{}, err
		}
		return LogPage{}, found.noResult()
	}
	page := LogPage{}
	if page.Cursor, err = url.QueryUnescape(link[1]); err != nil {
		return LogPage{}, err
	}
	// A text of a change may hold other ends of lines.
	for _, line := range strings.Split(string(found.text), "\n") {
		if line == "" {
			continue
		}
		var change PhaseChange
		if err := json.Unmarshal([]byte(line), &change); err != nil {
			return LogPage{}, err
		}
		page.Changes = append(page.Changes, change)
	}
	return page, nil
}
