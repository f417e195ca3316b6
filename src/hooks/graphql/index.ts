import './hook.ts'
import './hook-mutations.ts'
