import { config } from 'zod'

// The page's policy refuses code from text, which zod would try.
config({ jitless: true })
