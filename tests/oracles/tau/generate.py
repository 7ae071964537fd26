#!/usr/bin/env python3
"""Writes recordings in the shape of tau-bench's, and what contracts decide about them.

Nothing in them is copied: customers, orders and flights are drawn from the lists below. The verdicts come from the
small evaluator in this file, which shares no code with the engine and was written from the reference page of contracts.

    python3 tests/oracles/tau/generate.py tests/conformance/tau_bench.json tests/fixtures/tau
"""

import json
import random
import sys

NAMES = ["ada", "bo", "cleo", "dev", "eun", "fay", "gil", "hana"]
RETAIL = ["get_order_details", "get_product_details", "cancel_pending_order", "modify_pending_order_items",
          "modify_pending_order_address", "modify_pending_order_payment", "exchange_delivered_order_items",
          "return_delivered_order_items", "modify_user_address"]
AIRLINE = ["get_reservation_details", "search_direct_flight", "search_onestop_flight", "book_reservation",
           "cancel_reservation", "update_reservation_flights", "update_reservation_baggages",
           "update_reservation_passengers", "send_certificate"]


def python_literal(value):
    """Arguments as one of the published files has them."""
    return repr(value)


def retail_call(draw, user, orders):
    tool = draw.choice(RETAIL)
    if tool == "get_product_details":
        return tool, {"product_id": str(draw.randrange(100, 120))}, {"name": "lamp"}
    if tool == "modify_user_address":
        return tool, {"user_id": user, "zip": "00100"}, {"user_id": user}
    order = draw.choice(sorted(orders))
    status = orders[order]
    arguments = {"order_id": order}
    if tool == "get_order_details":
        return tool, arguments, {"order_id": order, "status": status, "user_id": user}
    wants = "delivered" if "delivered" in tool else "pending"
    if status != wants:
        return tool, arguments, f"Error: order is not {wants}"
    return tool, arguments, {"order_id": order, "status": status}


def airline_call(draw, user, bookings):
    tool = draw.choice(AIRLINE)
    booking = draw.choice(bookings)
    if tool.startswith("search"):
        return tool, {"origin": "AAA", "destination": "BBB"}, [{"flight": "X1"}]
    if tool in ("book_reservation", "send_certificate"):
        return tool, {"user_id": user}, {"reservation_id": "NEW", "user_id": user}
    if draw.random() < 0.15:
        return tool, {"reservation_id": booking}, "Error: reservation not found"
    return tool, {"reservation_id": booking}, {"reservation_id": booking, "user_id": user}


def episode(draw, number, domain, ids, literal):
    user = f"{draw.choice(NAMES)}_{number}"
    orders = {f"#W{number}{place}": draw.choice(["pending", "delivered"]) for place in range(3)}
    bookings = [f"R{number}{place}" for place in range(2)]
    trajectory = [{"role": "system", "content": "Help the customer."}]
    calls = 0
    for _ in range(draw.randrange(2, 8)):
        trajectory.append({"role": "user", "content": draw.choice(["And now?", "Please go on.", "Yes."])})
        for _ in range(draw.randrange(0, 3)):
            if calls == 0 and draw.random() < 0.7:
                made = ("get_user_details", {"user_id": user}, {"user_id": user})
            elif draw.random() < 0.05:
                made = ("transfer_to_human_agents", {"summary": "asks for a person"}, "Transfer successful")
            elif domain == "retail":
                made = retail_call(draw, user, orders)
            else:
                made = airline_call(draw, user, bookings)
            tool, arguments, result = made
            calls += 1
            text = python_literal(arguments) if literal else json.dumps(arguments)
            call = {"type": "function", "function": {"name": tool, "arguments": text}}
            answer = {"role": "tool", "name": tool, "content": result if isinstance(result, str) else json.dumps(result)}
            if ids:
                call = {"id": f"call_{calls}", **call}
                answer["tool_call_id"] = f"call_{calls}"
            trajectory.append({"role": "assistant", "content": None, "tool_calls": [call]})
            trajectory.append(answer)
        trajectory.append({"role": "assistant", "content": draw.choice(["Done.", "Shall I go on?"])})
    return {"task_id": number, "trial": 0, "reward": 1.0, "traj": trajectory}


# ---- What contracts decide ---------------------------------------------------------------------------------------


def at(path, value):
    """The one value at `$.name`; nothing otherwise."""
    name = path.removeprefix("$.")
    return value.get(name) if isinstance(value, dict) else None


def verdicts(contracts, session, shadow):
    """The denied calls by index, and how often each reason was given."""
    by_tool = {contract["tool"]: contract for contract in contracts}
    prior, banned, steps, index, denied, codes = [], set(), 0, 0, [], {}
    messages = session["traj"]
    for place, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        calls = message.get("tool_calls") or []
        started = 0
        for call in calls:
            tool, text = call["function"]["name"], call["function"]["arguments"]
            arguments = json.loads(text) if text.startswith('{"') else eval(text, {"__builtins__": {}})
            result = messages[place + 1]["content"]
            reasons = ["forbidden"] if tool in banned else []
            for condition in by_tool.get(tool, {}).get("preconditions", []):
                reasons += unmet(condition, arguments, prior, steps)
            for reason in reasons:
                codes[reason] = codes.get(reason, 0) + 1
            if reasons:
                denied.append(index)
            index += 1
            if reasons and not shadow:
                continue
            started += 1
            if result.startswith("Error"):
                continue
            try:
                output = json.loads(result)
            except ValueError:
                output = result
            banned.update(by_tool.get(tool, {}).get("forbids_after", []))
            prior.append((tool, arguments, output))
        # One call a response here, so nothing is in flight while another is decided.
        assert len(calls) < 2
        steps += 1 if started or not calls else 0
    return denied, codes


def unmet(condition, arguments, prior, steps):
    if "requires_step_count" in condition and steps < condition["requires_step_count"]["gte"]:
        return ["step_count_below"]
    if "requires_prior_tool" not in condition:
        return []
    ran = [call for call in prior if call[0] == condition["requires_prior_tool"]]
    if not ran:
        return ["prior_tool_missing"]
    if "resource" in condition:
        path = condition["resource"]["path"]
        assert "prior" not in condition["resource"]
        wanted = at(path, arguments)
        if wanted is None:
            return ["resource_missing"]
        ran = [call for call in ran if at(path, call[1]) == wanted]
        if not ran:
            return ["resource_unmatched"]
        ran = ran[-1:]
    holds = lambda call: all(at(test["path"], call[2]) == test["equals"] for test in condition.get("with_output", []))
    return [] if any(map(holds, ran)) else ["prior_output_unmatched"]


def main(policies, folder):
    draw = random.Random(20261122)
    kinds = {"airline.json": ("airline", 12, True, False), "retail.json": ("retail", 16, True, False),
             "retail-without-ids.json": ("retail", 12, False, True)}
    of = {"tau-bench/airline-gpt-4o-trials-0-1.json": "airline.json", "tau-bench/retail-tool-calling.json": "retail.json",
          "tau-bench/retail-assertions-agent-noids.json": "retail-without-ids.json"}
    files = {}
    for name, (domain, count, ids, literal) in kinds.items():
        files[name] = [episode(draw, number, domain, ids, literal) for number in range(count)]
        with open(f"{folder}/{name}", "w") as out:
            out.write("[\n" + ",\n".join(json.dumps(one) for one in files[name]) + "\n]\n")
    cases = []
    for case in json.load(open(policies)):
        name = of[case["file"]]
        made = {"file": f"tau/{name}", "policy": case["policy"], "contracts": case["contracts"]}
        for mode in ["enforce", "shadow"]:
            calls, codes = [], {}
            for number, session in enumerate(files[name]):
                denied, reasons = verdicts(case["contracts"], session, mode == "shadow")
                calls += [[number, index] for index in denied]
                for reason, count in reasons.items():
                    codes[reason] = codes.get(reason, 0) + count
            made[mode] = {"denied": len(calls), "calls": calls, "codes": codes}
        cases.append(made)
    with open(f"{folder}/cases.json", "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


main(*sys.argv[1:])
