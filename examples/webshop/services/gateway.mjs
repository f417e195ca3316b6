import { badRequest, callJson, getJson } from '../lib/http.mjs'

/** The shop's one API: products, carts, checkout, and how the services behind it are. */
export function createService({ catalog, cart, orders, payments }) {
  const services = { catalog, cart, orders, payments }

  async function checkout(cartId) {
    const [products, { items }] = await Promise.all([
      getJson(`${catalog}/products`),
      getJson(`${cart}/carts/${cartId}`),
    ])
    const lines = Object.entries(items).map(([productId, quantity]) => {
      // Prices are the catalog's, whatever the browser thinks.
      const product = products.find(({ id }) => id === productId)
      if (!product) throw badRequest(`${productId} is not for sale any more.`)
      return { productId, quantity, cents: product.cents }
    })
    const order = await callJson('POST', `${orders}/orders`, { lines })
    await callJson('DELETE', `${cart}/carts/${cartId}`)
    return order
  }

  async function status() {
    const answers = Object.entries(services).map(async ([name, url]) => {
      const health = await getJson(`${url}/healthz`).catch(() => null)
      return { name, ok: health !== null, upMs: health?.upMs ?? null }
    })
    return await Promise.all(answers)
  }

  return async ({ method, path, body }) => {
    if (method === 'GET' && path === '/api/products') return await getJson(`${catalog}/products`)
    if (method === 'GET' && path === '/api/status') return await status()
    const cartId = /^\/api\/carts\/([\w-]{1,64})$/.exec(path)?.[1]
    if (cartId !== undefined && ['GET', 'PUT'].includes(method)) {
      return await callJson(method, `${cart}/carts/${cartId}`, body)
    }
    const orderId = /^\/api\/orders\/([\w-]{1,64})$/.exec(path)?.[1]
    if (method === 'GET' && orderId !== undefined) return (await getJson(`${orders}/orders/${orderId}`)) ?? undefined
    const buyer = /^\/api\/checkout\/([\w-]{1,64})$/.exec(path)?.[1]
    if (method === 'POST' && buyer !== undefined) return await checkout(buyer)
    return undefined
  }
}
