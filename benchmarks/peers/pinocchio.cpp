/* Pinocchio in a loop, from C++: the time of an evaluation of its accelerations, or of a whole run.
 *
 * Input: the number of links; of each its parent (-1: the world), kind (revolute, prismatic, free), axis, origin in the
 * parent's frame, mass, centre and the inertia about it (xx xy yy xz yz zz), damping; the number of closures; of each
 * its two links and the point in the frame of each; stiffness and damping of Baumgarte's terms; the method for loops
 * (constraintDynamics or lcaba) with mu, accuracy and the most iterations of its proximal settings; gravity; q; v; then
 * `evaluate`, or `run` with the stop time, the tolerance, the most CPU time and an embedded Runge-Kutta pair: the number
 * of stages, A, b, the order of its error, the number of error estimates and these. Output: seconds, and accelerations
 * or final q, which are not numbers where a run takes too long.
 *
 * Aligned axes get the joint models that Pinocchio has for them, which are its fastest. Everything is compiled here from
 * its headers, for this processor. */

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

template <class T> static T next()
{
    T value;
    std::cin >> value;
    return value;
}

static Vector3d vector()
{
    Vector3d v;
    for (auto &value : v) value = next<double>();
    return v;
}

static VectorXd vector(long size)
{
    VectorXd v(size);
    for (auto &value : v) value = next<double>();
    return v;
}

static pin::JointModel joint_of(const std::string &kind, const Vector3d &axis)
{
    const bool is_x = axis == Vector3d::UnitX(), is_y = axis == Vector3d::UnitY(), is_z = axis == Vector3d::UnitZ();
    if (kind == "free") return pin::JointModelFreeFlyer();
    if (kind == "prismatic") {
        if (is_x) return pin::JointModelPX();
        if (is_y) return pin::JointModelPY();
        if (is_z) return pin::JointModelPZ();
        return pin::JointModelPrismaticUnaligned(axis);
    }
    if (is_x) return pin::JointModelRX();
    if (is_y) return pin::JointModelRY();
    if (is_z) return pin::JointModelRZ();
    return pin::JointModelRevoluteUnaligned(axis);
}

static double cpu()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* The mechanism, and its accelerations at q, v. */
struct Mechanism {
    pin::Model model;
    pin::Data data;
    VectorXd damping;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintModel) constraints;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintData) constraint_data;
    pin::ProximalSettings proximal;
    bool along_the_tree = false;

    Mechanism()
    {
        const int count = next<int>();
        std::vector<double> dampings;
        for (int i = 0; i < count; i++) {
            const int parent = next<int>();
            const auto kind = next<std::string>();
            const Vector3d axis = vector(), origin = vector();
            const double mass = next<double>();
            const Vector3d center = vector(), first = vector(), second = vector();
            pin::Symmetric3 inertia(first[0], first[1], first[2], second[0], second[1], second[2]);
            const auto placement = pin::SE3(Eigen::Matrix3d::Identity(), origin);
            const auto index =
                model.addJoint(parent + 1, joint_of(kind, axis), placement, "joint" + std::to_string(i));
            model.appendBodyToJoint(index, pin::Inertia(mass, center, inertia), pin::SE3::Identity());
            dampings.insert(dampings.end(), kind == "free" ? 6 : 1, next<double>());
        }
        damping = Eigen::Map<VectorXd>(dampings.data(), dampings.size());
        const int closures = next<int>();
        for (int i = 0; i < closures; i++) {
            const int one = next<int>(), other = next<int>();
            const pin::SE3 at_one(Eigen::Matrix3d::Identity(), vector());
            const pin::SE3 at_other(Eigen::Matrix3d::Identity(), vector());
            constraints.emplace_back(pin::CONTACT_3D, model, one + 1, at_one, other + 1, at_other, pin::LOCAL);
        }
        const double stiffness = next<double>(), rate = next<double>();
        for (auto &constraint : constraints) {
            constraint.m_baumgarte_parameters.Kp = stiffness;
            constraint.m_baumgarte_parameters.Kd = rate;
            constraint_data.emplace_back(constraint.createData());
        }
        along_the_tree = next<std::string>() == "lcaba";
        proximal.mu = next<double>();
        proximal.absolute_accuracy = proximal.relative_accuracy = next<double>();
        proximal.max_iter = next<int>();
        model.gravity.linear() = vector();
        data = pin::Data(model);
        if (along_the_tree) pin::computeJointMinimalOrdering(model, data, constraints);
        else if (!constraints.empty()) pin::initConstraintDynamics(model, data, constraints, constraint_data);
    }

    const VectorXd &accelerations(const VectorXd &q, const VectorXd &v)
    {
        tau.noalias() = -damping.cwiseProduct(v);
        if (constraints.empty()) return pin::aba(model, data, q, v, tau, pin::Convention::LOCAL);
        if (along_the_tree) return pin::lcaba(model, data, q, v, tau, constraints, constraint_data, proximal);
        return pin::constraintDynamics(model, data, q, v, tau, constraints, constraint_data, proximal);
    }

  private:
    VectorXd tau;
};

/* An embedded explicit Runge-Kutta pair, whose last stage is the first of the next step. */
struct Pair {
    long stages;
    MatrixXd a, errors;
    VectorXd b;
    double order;

    Pair()
    {
        stages = next<long>();
        a.resize(stages, stages);
        for (long i = 0; i < stages; i++) a.row(i) = vector(stages);
        b = vector(stages);
        order = next<double>();
        errors.resize(stages + 1, next<long>());
        for (long i = 0; i < errors.cols(); i++) errors.col(i) = vector(stages + 1);
    }
};

/* q at the stop time: steps as those of SciPy's RK45 and DOP853 (their estimate of the first, their controller). */
static VectorXd integrate(Mechanism &mechanism, const VectorXd &q, const VectorXd &v, const Pair &pair, double stop,
                          double tolerance, double longest)
{
    const double begin = cpu();
    long steps = 0;
    const long n = q.size(), size = n + v.size();
    VectorXd y(size), trial(size), weight(size);
    MatrixXd k(size, pair.stages + 1), estimates(size, pair.errors.cols());
    y << q, v;
    VectorXd at_q(n), at_v(v.size());
    const auto rate = [&](const VectorXd &state, long stage) {
        at_q = state.head(n);
        at_v = state.tail(v.size());
        k.col(stage).head(n) = at_v;
        k.col(stage).tail(v.size()) = mechanism.accelerations(at_q, at_v);
    };
    const auto norm = [&](const auto &vector) { return std::sqrt(vector.squaredNorm() / size); };

    rate(y, 0);
    weight = (tolerance * y.cwiseAbs()).array() + tolerance;
    const double first = norm(y.cwiseQuotient(weight)), slope = norm(k.col(0).cwiseQuotient(weight));
    double step = first < 1e-5 || slope < 1e-5 ? 1e-6 : 0.01 * first / slope;
    rate(y + step * k.col(0), 1);
    const double bend = norm((k.col(1) - k.col(0)).cwiseQuotient(weight)) / step, largest = std::max(slope, bend);
    const double second = largest <= 1e-15 ? std::max(1e-6, 1e-3 * step) : std::pow(0.01 / largest, 1 / pair.order);
    step = std::min(100 * step, second);

    double time = 0;
    bool rejected = false;
    while (time < stop) {
        if (++steps % 256 == 0 && cpu() - begin > longest) return VectorXd::Constant(n, std::nan(""));
        step = std::min(step, stop - time);
        for (long stage = 1; stage < pair.stages; stage++) {
            trial.noalias() = y + step * (k.leftCols(stage) * pair.a.row(stage).head(stage).transpose());
            rate(trial, stage);
        }
        trial.noalias() = y + step * (k.leftCols(pair.stages) * pair.b);
        rate(trial, pair.stages);
        weight = tolerance * y.cwiseAbs().cwiseMax(trial.cwiseAbs()).array() + tolerance;
        estimates.noalias() = k * pair.errors;
        double error = (estimates.col(0).cwiseQuotient(weight)).squaredNorm();
        if (pair.errors.cols() == 1) error = step * std::sqrt(error / size);
        else if (error > 0) { /* DOP853 weighs an estimate of order 5 by one of order 3 */
            const double other = (estimates.col(1).cwiseQuotient(weight)).squaredNorm();
            error = step * error / std::sqrt((error + 0.01 * other) * size);
        }
        const double factor = error == 0 ? 10 : 0.9 * std::pow(error, -1 / pair.order);
        if (error < 1) {
            time = step == stop - time ? stop : time + step;
            y = trial;
            k.col(0) = k.col(pair.stages);
            step *= std::min(rejected ? 1.0 : 10.0, factor);
        } else {
            step *= std::max(0.2, factor);
        }
        rejected = !(error < 1);
    }
    return y.head(n);
}

static void print(double seconds, const VectorXd &values)
{
    std::printf("%.17g\n", seconds);
    for (double value : values) std::printf("%.17g\n", value);
}

int main()
{
    Mechanism mechanism;
    const VectorXd q = vector(mechanism.model.nq), v = vector(mechanism.model.nv);
    const bool runs = next<std::string>() == "run";
    if (!std::cin) return 1;
    if (runs) {
        const double stop = next<double>(), tolerance = next<double>(), longest = next<double>();
        const Pair pair;
        if (!std::cin) return 1;
        VectorXd end;
        double least = 1e300, all = 0;
        for (int i = 0; i < 7 && all < 1; i++) {
            const double begin = cpu();
            end = integrate(mechanism, q, v, pair, stop, tolerance, longest);
            const double spent = cpu() - begin;
            least = std::min(least, spent);
            all += spent;
        }
        print(least, end);
        return 0;
    }
    long calls = 1;
    const auto batch = [&] {
        const double begin = cpu();
        for (long i = 0; i < calls; i++) mechanism.accelerations(q, v);
        return cpu() - begin;
    };
    while (batch() < 2e-3) calls *= 2;
    double least = batch();
    for (int i = 1; i < 30; i++) least = std::min(least, batch());
    print(least / calls, mechanism.accelerations(q, v));
    return 0;
}
