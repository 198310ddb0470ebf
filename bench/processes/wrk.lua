-- What wrk asks: the load of bench/lib/load.ts without its cancels, which would have to read answers.
-- Arguments: kind, path in front, file of keys (a line each), instruments (with commas), a name.
local keys, instruments = {}, {}
local kind, base, name
local orders = 0

function init(args)
  kind, base, name = args[1], args[2], args[5]
  for line in io.lines(args[3]) do keys[#keys + 1] = line end
  for id in string.gmatch(args[4], '[^,]+') do instruments[#instruments + 1] = id end
  math.randomseed(os.time())
end

local function any(list) return list[math.random(#list)] end

function request()
  local headers = { Authorization = 'Bearer ' .. any(keys) }
  if kind == 'portfolio' then return wrk.format('GET', base .. '/portfolio', headers) end
  if kind == 'quotes' then
    return wrk.format('GET', base .. '/quotes?ids=' .. any(instruments), headers)
  end
  orders = orders + 1
  local type = '"type":"market"'
  if orders % 3 > 0 then
    type = '"type":"limit","limitPriceCents":' .. math.random(5)
  end
  headers['Content-Type'] = 'application/json'
  local body = '{"action":"buy",' .. type .. ',"instrumentId":"' .. any(instruments) ..
    '","side":"yes","count":1,"idempotencyKey":"' .. name .. '-' .. orders .. '"}'
  return wrk.format('POST', base .. '/portfolio/orders', headers, body)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"micros":%d,"refused":%d,"lost":%d,"bytes":%d,"p50":%d,"p99":%d,"p999":%d,"max":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
